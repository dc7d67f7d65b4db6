#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The amounts that this process has used so far, all threads included, as the operating system
/// counts them.
struct ProcessUse {
  /// User and system time.
  var cpuNanoseconds: UInt64 = 0
  /// Bytes handed to write calls.
  var writtenByteCount: UInt64 = 0
  /// Bytes of the pages that the process made dirty, which are to be sent to storage.
  var storedByteCount: UInt64 = 0
  /// Bytes that read calls returned, from the cache or from storage.
  var readByteCount: UInt64 = 0
  /// Bytes fetched from storage, for read calls and for mapped files.
  var fetchedByteCount: UInt64 = 0
  /// Read and write calls; zero where the system does not count them.
  var callCount: UInt64 = 0
  /// Accesses of memory that had to wait for storage.
  var majorFaultCount: UInt64 = 0

  static func now() throws -> ProcessUse {
    var usage = rusage()
    #if canImport(Glibc)
      let process = __rusage_who_t(RUSAGE_SELF.rawValue)
    #else
      let process = RUSAGE_SELF
    #endif
    guard unsafe getrusage(process, &usage) == 0 else { throw Files.failure("getrusage", "self") }
    var use = ProcessUse()
    use.cpuNanoseconds = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
    use.majorFaultCount = UInt64(usage.ru_majflt)
    #if canImport(Darwin)
      use.writtenByteCount = try Machine.writtenByteCount()
    #else
      for line in String(decoding: try Files.read("/proc/self/io"), as: UTF8.self)
        .split(separator: "\n")
      {
        let fields = line.split(separator: ":")
        guard fields.count == 2, let number = UInt64(fields[1].dropFirst()) else { continue }
        switch fields[0] {
        case "rchar": use.readByteCount = number
        case "wchar": use.writtenByteCount = number
        case "syscr", "syscw": use.callCount += number
        case "read_bytes": use.fetchedByteCount = number
        case "write_bytes": use.storedByteCount = number
        default: break
        }
      }
    #endif
    return use
  }

  private static func nanoseconds(_ time: timeval) -> UInt64 {
    UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1_000
  }

  static func - (a: ProcessUse, b: ProcessUse) -> ProcessUse {
    // Two samples' own reading can differ by a few bytes.
    func less(_ a: UInt64, _ b: UInt64) -> UInt64 { a > b ? a - b : 0 }
    return ProcessUse(
      cpuNanoseconds: less(a.cpuNanoseconds, b.cpuNanoseconds),
      writtenByteCount: less(a.writtenByteCount, b.writtenByteCount),
      storedByteCount: less(a.storedByteCount, b.storedByteCount),
      readByteCount: less(a.readByteCount, b.readByteCount),
      fetchedByteCount: less(a.fetchedByteCount, b.fetchedByteCount),
      callCount: less(a.callCount, b.callCount),
      majorFaultCount: less(a.majorFaultCount, b.majorFaultCount))
  }
}
