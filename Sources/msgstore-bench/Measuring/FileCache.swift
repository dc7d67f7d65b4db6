#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The part of a store's files that is in the operating system's cache.
enum FileCache {
  /// True where files can be dropped from the cache, and that be checked.
  static var isControllable: Bool {
    #if canImport(Darwin)
      false
    #else
      true
    #endif
  }

  /// Drops all files below a directory from the cache.
  ///
  /// Nobody may have them open or mapped. A page that is not on the disk yet cannot be dropped, so
  /// each file is synced before.
  static func drop(_ directory: String) throws {
    #if !canImport(Darwin)
      for path in try Files.paths(in: directory) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Files.failure("open", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw Files.failure("fsync", path) }
        guard posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 else {
          throw Files.failure("posix_fadvise", path)
        }
      }
    #endif
  }

  /// Returns the number of pages of all files below a directory that are in the cache.
  static func pageCount(of directory: String) throws -> Int {
    var count = 0
    #if !canImport(Darwin)
      let pageByteCount = sysconf(Int32(_SC_PAGESIZE))
      for path in try Files.paths(in: directory) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Files.failure("open", path) }
        defer { close(file) }
        let byteCount = Int(lseek(file, 0, SEEK_END))
        guard byteCount > 0 else { continue }
        // To map a file brings in none of its pages.
        let start = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, file, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
          throw Files.failure("mmap", path)
        }
        defer { unsafe _ = munmap(start, byteCount) }
        var states = [UInt8](repeating: 0, count: (byteCount + pageByteCount - 1) / pageByteCount)
        guard unsafe mincore(start, byteCount, &states) == 0 else {
          throw Files.failure("mincore", path)
        }
        count += states.count { $0 & 1 == 1 }
      }
    #endif
    return count
  }
}
