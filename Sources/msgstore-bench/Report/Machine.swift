#if SQLCipher
  import CSQLCipher
#else
  import CSQLite
#endif

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The machine on which the figures were taken.
package struct Machine {
  var system: String
  var processor: String
  var coreCount: Int
  var memoryByteCount: Int
  /// The file system of the directory that holds the stores.
  var fileSystem: String
  var sqliteVersion: String
  /// The time of the run, in UTC.
  var date: String
  /// The number of threads that wanted to run in the minute before the run, on average.
  package var load = 0.0

  package init(
    system: String, processor: String, coreCount: Int, memoryByteCount: Int, fileSystem: String,
    sqliteVersion: String, date: String
  ) {
    self.system = system
    self.processor = processor
    self.coreCount = coreCount
    self.memoryByteCount = memoryByteCount
    self.fileSystem = fileSystem
    self.sqliteVersion = sqliteVersion
    self.date = date
  }

  init(directory: String) {
    var name = utsname()
    unsafe _ = uname(&name)
    system = [
      Self.string(&name.sysname), Self.string(&name.release), Self.string(&name.machine),
    ].joined(separator: " ")
    coreCount = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    memoryByteCount = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    processor = Self.processor()
    fileSystem = Self.fileSystem(of: directory)
    unsafe sqliteVersion = String(cString: sqlite3_libversion())
    date = Self.date()
  }

  /// Returns the load of the machine over the last minute; 0 if the system does not tell.
  static func load() -> Double {
    var loads = [0.0]
    return unsafe getloadavg(&loads, 1) == 1 ? loads[0] : 0
  }

  private static func date() -> String {
    var seconds = time(nil)
    var parts = unsafe tm()
    unsafe _ = gmtime_r(&seconds, &parts)
    let numbers = unsafe [
      1_900 + parts.tm_year, 1 + parts.tm_mon, parts.tm_mday, parts.tm_hour, parts.tm_min,
    ].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return numbers[..<3].joined(separator: "-") + " " + numbers[3...].joined(separator: ":")
      + " UTC"
  }

  private static func string<Characters>(_ field: inout Characters) -> String {
    unsafe withUnsafeBytes(of: &field) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private static func lines(of path: String) -> [Substring] {
    let bytes = (try? Files.read(path)) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  private static func processor() -> String {
    #if canImport(Darwin)
      var name = [UInt8](repeating: 0, count: 256)
      var byteCount = name.count
      unsafe sysctlbyname("machdep.cpu.brand_string", &name, &byteCount, nil, 0)
      return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    #else
      let line = lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
      let name = line?.split(separator: ":", maxSplits: 1).last?.drop { $0 == " " }
      return name.map(String.init) ?? "unknown"
    #endif
  }

  /// Returns the type of the file system and, on Linux, its device.
  private static func fileSystem(of directory: String) -> String {
    #if canImport(Darwin)
      var status = statfs()
      guard unsafe statfs(directory, &status) == 0 else { return "unknown" }
      return string(&status.f_fstypename)
    #else
      guard let resolved = unsafe realpath(directory, nil) else { return "unknown" }
      defer { unsafe free(resolved) }
      let path = unsafe String(cString: resolved)
      // Of two mounts on the same path the later one is visible.
      var best: (point: Substring, text: String) = ("", "unknown")
      for line in lines(of: "/proc/mounts") {
        let fields = line.split(separator: " ")
        guard fields.count >= 3 else { continue }
        let point = fields[1]
        let holds = point == "/" || path == point || path.hasPrefix("\(point)/")
        if holds, point.utf8.count >= best.point.utf8.count {
          best = (point, "\(fields[2]) on \(fields[0])")
        }
      }
      return best.text
    #endif
  }

  // MARK: This process

  /// Returns the number of bytes that this process has passed to write calls so far.
  static func writtenByteCount() throws -> UInt64 {
    #if canImport(Darwin)
      var usage = rusage_info_current()
      let code = unsafe withUnsafeMutablePointer(to: &usage) { usage in
        unsafe usage.withMemoryRebound(to: rusage_info_t?.self, capacity: 1) { usage in
          unsafe proc_pid_rusage(getpid(), RUSAGE_INFO_CURRENT, usage)
        }
      }
      guard code == 0 else { throw Files.failure("proc_pid_rusage", "self") }
      return usage.ri_logical_writes
    #else
      return try number(after: "wchar:", in: "/proc/self/io")
    #endif
  }

  /// Returns the peak memory of this process.
  static func peakByteCount() throws -> UInt64 {
    #if canImport(Darwin)
      var usage = rusage()
      guard unsafe getrusage(RUSAGE_SELF, &usage) == 0 else {
        throw Files.failure("getrusage", "self")
      }
      return UInt64(usage.ru_maxrss)
    #else
      // Unlike `ru_maxrss`, this value is not inherited from the parent process.
      return try number(after: "VmHWM:", in: "/proc/self/status") * 1_024
    #endif
  }

  private static func number(after name: String, in path: String) throws -> UInt64 {
    let line = lines(of: path).first { $0.hasPrefix(name) }
    guard let line,
      let field = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first,
      let number = UInt64(field)
    else { throw BenchError("\(path): no number after \(name)") }
    return number
  }
}
