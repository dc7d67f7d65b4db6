#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Renaming a file in one step, where that fails if the new name is taken.
///
/// Linux has it since 3.15, and macOS since 10.12, each in most of its file systems.
enum ExclusiveRename {
  /// Renames a file; returns false if the system or the file system cannot do it in one step.
  static func run(_ path: String, _ newPath: String) throws(PageFileError) -> Bool {
    guard let result = call(path, newPath) else { return false }
    if result == 0 { return true }
    let code = errno
    // A filter of system calls may answer one that it does not know with EPERM.
    if code == EINVAL || code == ENOSYS || code == ENOTSUP || code == EPERM { return false }
    throw .ioError(call: "rename", errno: code, path: newPath)
  }

  #if canImport(Darwin)
    private static func call(_ path: String, _ newPath: String) -> Int32? {
      unsafe renamex_np(path, newPath, UInt32(RENAME_EXCL))
    }
  #else
    private typealias RenameAt =
      @convention(c) (
        Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
      ) -> Int32

    /// `renameat2` of the C library, which its headers show to programs for GNU only.
    private static let renameAt: RenameAt? = unsafe dlsym(nil, "renameat2").map {
      unsafe unsafeBitCast($0, to: RenameAt.self)
    }

    private static func call(_ path: String, _ newPath: String) -> Int32? {
      // RENAME_NOREPLACE
      unsafe renameAt.map { unsafe $0(AT_FDCWD, path, AT_FDCWD, newPath, 1) }
    }
  #endif
}
