#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// This program, or another build of it, run in a process of its own.
enum ChildProcess {
  static func run(_ arguments: [String], program: String? = nil) throws {
    let path = try program ?? executablePath()
    var pointers = unsafe ([path] + arguments).map { unsafe strdup($0) }
    defer { unsafe pointers.forEach { unsafe free($0) } }
    unsafe pointers.append(nil)
    var child = pid_t()
    let code = unsafe posix_spawn(&child, path, nil, nil, pointers, environ)
    guard code == 0 else {
      throw BenchError("\(path): posix_spawn: \(unsafe String(cString: strerror(code)))")
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Files.failure("waitpid", path) }
    }
    guard status == 0 else { throw BenchError("\(arguments[0]): exited with status \(status)") }
  }

  private static func executablePath() throws -> String {
    var path = [CChar](repeating: 0, count: 4_096)
    #if canImport(Darwin)
      guard unsafe proc_pidpath(getpid(), &path, UInt32(path.count)) > 0 else {
        throw Files.failure("proc_pidpath", "self")
      }
    #else
      guard unsafe readlink("/proc/self/exe", &path, path.count - 1) > 0 else {
        throw Files.failure("readlink", "/proc/self/exe")
      }
    #endif
    return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
