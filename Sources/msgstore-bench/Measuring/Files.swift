#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The few file operations of the benchmark itself.
enum Files {
  static func read(_ path: String) throws -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("open", path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    let byteCountStep = 1 << 20
    while true {
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: byteCountStep) { buffer, count in
        #if canImport(Darwin)
          count = unsafe max(0, Darwin.read(file, buffer.baseAddress, byteCountStep))
        #elseif canImport(Glibc)
          count = unsafe max(0, Glibc.read(file, buffer.baseAddress, byteCountStep))
        #elseif canImport(Musl)
          count = unsafe max(0, Musl.read(file, buffer.baseAddress, byteCountStep))
        #endif
      }
      guard !chunk.isEmpty else { return bytes }
      bytes += chunk
    }
  }

  static func write(_ text: String, to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure("open", path) }
    defer { close(file) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        #if canImport(Darwin)
          unsafe Darwin.write(file, buffer.baseAddress, buffer.count)
        #elseif canImport(Glibc)
          unsafe Glibc.write(file, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
          unsafe Musl.write(file, buffer.baseAddress, buffer.count)
        #endif
      }
      guard count > 0 else { throw failure("write", path) }
      bytes = bytes.dropFirst(count)
    }
  }

  static func makeDirectory(_ path: String) throws {
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else { throw failure("mkdir", path) }
  }

  /// Creates a fresh directory below `parent`.
  static func makeTemporaryDirectory(in parent: String) throws -> String {
    var template = Array("\(parent)/msgstore-bench-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw failure("mkdtemp", parent) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the bytes of all files in `directory` and below it.
  static func byteCount(in directory: String) throws -> UInt64 {
    try names(in: directory).reduce(0) { sum, name in
      let path = "\(directory)/\(name)"
      if isDirectory(path) { return try sum + byteCount(in: path) }
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return sum }
      return sum + (status.st_mode & S_IFMT == S_IFREG ? UInt64(status.st_size) : 0)
    }
  }

  /// Returns the paths of all files in `directory` and below it.
  static func paths(in directory: String) throws -> [String] {
    try names(in: directory).flatMap { name in
      let path = "\(directory)/\(name)"
      return isDirectory(path) ? try paths(in: path) : [path]
    }
  }

  /// Removes a directory and all its contents.
  ///
  /// Failures are ignored, since nothing can be done about them.
  static func remove(_ directory: String) {
    for name in (try? names(in: directory)) ?? [] {
      let path = "\(directory)/\(name)"
      if isDirectory(path) { remove(path) } else { unsafe _ = unlink(path) }
    }
    unsafe _ = rmdir(directory)
  }

  private static func names(in directory: String) throws -> [String] {
    guard let stream = unsafe opendir(directory) else { throw failure("opendir", directory) }
    defer { unsafe _ = closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  static func failure(_ call: String, _ path: String) -> BenchError {
    BenchError("\(path): \(call): \(unsafe String(cString: strerror(errno)))")
  }
}
