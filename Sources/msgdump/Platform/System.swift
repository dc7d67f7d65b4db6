#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The few system calls that the tool makes itself, besides those of the store.
///
/// Foundation would do the same, but the process would take three times as long to start.
enum System {
  /// Makes writing to a closed pipe an error that can be handled, instead of a fatal signal.
  static func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// Removes files when a signal asks the process to end: Ctrl-C, a closed terminal, or `kill`.
  ///
  /// An empty list leaves these signals to the system again. A signal that the process ignores, as
  /// after `nohup`, stays ignored. One that it was started with as blocked, as a child of a thread
  /// that takes no signals, is unblocked.
  static func removeWhenInterrupted(_ paths: [String]) {
    // The old list stays in memory: a handler on another thread may be reading it.
    let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
      .allocate(capacity: paths.count + 1)
    for (index, path) in paths.enumerated() {
      unsafe (list + index).initialize(to: strdup(path))
    }
    unsafe (list + paths.count).initialize(to: nil)
    unsafe interruptedPaths = list
    var signals = sigset_t()
    _ = unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let isIgnored = isIgnoring(systemSignal(number, paths.isEmpty ? SIG_DFL : removeAndEnd))
      if isIgnored { _ = systemSignal(number, SIG_IGN) }
      _ = unsafe sigaddset(&signals, number)
    }
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  private static func isIgnoring(_ handler: SignalHandler?) -> Bool {
    // Unsafe: compares addresses; the system names its handlers by addresses that are no functions.
    unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Ends the process with a status.
  static func exit(_ status: Int32) -> Never {
    #if canImport(Glibc)
      Glibc.exit(status)
    #elseif canImport(Musl)
      Musl.exit(status)
    #else
      Darwin.exit(status)
    #endif
  }

  /// The error number of reading a directory as a file.
  static var isADirectory: Int32 { EISDIR }

  /// True if standard error is a terminal.
  static var standardErrorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// True if standard output is a terminal.
  static var standardOutputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The number of columns of the terminal that standard output leads to, if it says.
  static var standardOutputWidth: Int? {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }

  /// Returns the value of an environment variable, or nil if it is not set.
  static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns the offset of the local time zone from UTC in seconds, at a time in seconds since
  /// 1970; 0 if the system cannot tell.
  static func offsetFromUTC(at seconds: Int64) -> Int64 {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
  }

  /// Writes text to standard error.
  ///
  /// Failures are ignored, since there is nowhere to report them.
  static func writeToStandardError(_ text: String) {
    var bytes = Array(text.utf8)
    var writtenByteCount = 0
    while writtenByteCount < bytes.count {
      let result = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe write(
          STDERR_FILENO, buffer.baseAddress?.advanced(by: writtenByteCount),
          buffer.count - writtenByteCount)
      }
      guard result > 0 else { return }
      writtenByteCount += result
    }
  }

  /// Writes all bytes to standard output.
  static func writeToStandardOutput(_ bytes: [UInt8]) throws(ToolError) {
    var writtenByteCount = 0
    while writtenByteCount < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe write(
          STDOUT_FILENO, buffer.baseAddress?.advanced(by: writtenByteCount),
          buffer.count - writtenByteCount)
      }
      if result >= 0 {
        writtenByteCount += result
      } else if errno == EPIPE {
        throw .outputClosed
      } else if errno != EINTR {
        throw .failure("cannot write to standard output: \(reason(errno))")
      }
    }
  }

  /// Returns the system's description of an error number.
  static func reason(_ errorNumber: Int32) -> String {
    guard let words = unsafe strerror(errorNumber) else { return "error \(errorNumber)" }
    return unsafe String(cString: words)
  }

  /// Returns the length of the file at a path in bytes, or nil if nothing exists there.
  ///
  /// Anything that is not an ordinary file counts as having content.
  static func fileByteCount(at path: String) throws(ToolError) -> Int? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw .failure("cannot look at \(path): \(reason(errno))")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return .max }
    return Int(status.st_size)
  }

  /// True if two paths lead to one file.
  static func isSameFile(_ path: String, _ other: String) -> Bool {
    var first = stat()
    var second = stat()
    guard unsafe stat(path, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// The number of this process.
  static var processNumber: Int { Int(getpid()) }

  /// Renames a file, replacing any file of the new name.
  static func rename(_ path: String, to newPath: String) throws(ToolError) {
    #if canImport(Glibc)
      let result = unsafe Glibc.rename(path, newPath)
    #elseif canImport(Musl)
      let result = unsafe Musl.rename(path, newPath)
    #else
      let result = unsafe Darwin.rename(path, newPath)
    #endif
    guard result == 0 else {
      throw .failure("cannot rename \(path) to \(newPath): \(reason(errno))")
    }
  }

  /// Removes a file if it exists.
  static func remove(_ path: String) {
    _ = unsafe unlink(path)
  }

  /// Makes the names in the directory that holds `path` durable.
  static func syncDirectory(of path: String) throws(ToolError) {
    let directory =
      path.utf8.lastIndex(of: UInt8(ascii: "/")).map { slash in
        slash == path.startIndex ? "/" : String(path[..<slash])
      } ?? "."
    let descriptor = unsafe open(directory, O_RDONLY)
    guard descriptor >= 0 else {
      throw .failure("cannot open the directory \(directory): \(reason(errno))")
    }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw .failure("cannot sync the directory \(directory): \(reason(errno))")
    }
  }
}

/// A file that is read once, from beginning to end.
struct InputFile: ~Copyable {
  private let descriptor: Int32
  private let name: String

  /// Opens the file at `path`; `-` is standard input.
  init(path: String) throws(ToolError) {
    if path == "-" {
      descriptor = STDIN_FILENO
      name = "standard input"
      return
    }
    name = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .failure("cannot open \(path): \(System.reason(errno))")
    }
  }

  deinit {
    if descriptor != STDIN_FILENO { close(descriptor) }
  }

  /// Reads into `buffer` from `offset` to at most its end.
  ///
  /// Returns the number of bytes read; 0 means that the file has ended.
  func read(into buffer: inout [UInt8], at offset: Int) throws(ToolError) -> Int {
    precondition(offset >= 0 && offset < buffer.count, "offset: out of bounds")
    while true {
      let result = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe systemRead(
          descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
      }
      if result >= 0 { return result }
      if errno != EINTR { throw .failure("cannot read \(name): \(System.reason(errno))") }
    }
  }
}

/// A new file that is written once, from beginning to end.
final class OutputFile {
  private let descriptor: Int32
  private let path: String

  /// Creates a file that only its owner can read, as the files of a store.
  init(creating path: String) throws(ToolError) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw .failure("cannot create \(path): \(System.reason(errno))")
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Writes all bytes at the end of the file.
  func write(_ bytes: [UInt8]) throws(ToolError) {
    var writtenByteCount = 0
    while writtenByteCount < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(
          descriptor, buffer.baseAddress?.advanced(by: writtenByteCount),
          buffer.count - writtenByteCount)
      }
      if result >= 0 {
        writtenByteCount += result
      } else if errno != EINTR {
        throw .failure("cannot write \(path): \(System.reason(errno))")
      }
    }
  }

  /// Makes the content durable.
  func sync() throws(ToolError) {
    guard fsync(descriptor) == 0 else {
      throw .failure("cannot sync \(path): \(System.reason(errno))")
    }
  }
}

/// Calls the system's `write`, which the methods above hide.
private func systemWrite(_ descriptor: Int32, _ address: UnsafeRawPointer?, _ byteCount: Int)
  -> Int
{
  unsafe write(descriptor, address, byteCount)
}

/// Calls the system's `read`, which the methods above hide.
private func systemRead(_ descriptor: Int32, _ address: UnsafeMutableRawPointer?, _ byteCount: Int)
  -> Int
{
  unsafe read(descriptor, address, byteCount)
}

/// The files that a signal removes, ended by nil; a handler can read nothing but a global.
nonisolated(unsafe) private var interruptedPaths:
  UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

private typealias SignalHandler = @convention(c) (Int32) -> Void

/// Removes the files and ends the process by the same signal.
///
/// It makes only calls that POSIX allows in a handler (XSH 2.4.3).
private let removeAndEnd: SignalHandler = { number in
  var next = unsafe interruptedPaths
  while let path = unsafe next?.pointee {
    _ = unsafe unlink(path)
    unsafe next = next?.advanced(by: 1)
  }
  _ = systemSignal(number, SIG_DFL)
  _ = raise(number)
}

/// Calls the system's `signal`, whose name is easily taken for that of a variable.
private func systemSignal(_ number: Int32, _ handler: SignalHandler?) -> SignalHandler? {
  signal(number, handler)
}
