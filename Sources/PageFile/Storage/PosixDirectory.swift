#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A directory in the operating system's file system.
package final class PosixDirectory: StorageDirectory {
  private let directoryPath: String

  /// Splits a path into its directory and its last name.
  package static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = slash == path.startIndex ? "/" : String(path[..<slash])
    return (directory, String(path[path.index(after: slash)...]))
  }

  /// Splits a path after following all links in it, including a link as the last name.
  ///
  /// So a store's files lie together no matter which path leads to them.
  package static func resolve(_ path: String) -> (directory: String, name: String) {
    if let real = realPath(path) { return split(real) }
    let (directory, name) = split(path)
    return (realPath(directory) ?? directory, name)
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  package init(path: String) {
    directoryPath = path
  }

  package func path(of name: String) -> String {
    directoryPath == "." ? name : directoryPath == "/" ? "/\(name)" : "\(directoryPath)/\(name)"
  }

  package func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    let path = path(of: name)
    var status = stat()
    if unsafe stat(path, &status) == 0 { return FileIdentity(status) }
    let code = errno
    if code == ENOENT || code == ENOTDIR { return nil }
    throw .ioError(call: "stat", errno: code, path: path)
  }

  package func byteCount(of name: String) throws(PageFileError) -> Int? {
    let path = path(of: name)
    var status = stat()
    // Not `stat`: a link is no ordinary file, and a link to nowhere takes the name, too.
    guard unsafe lstat(path, &status) == 0 else {
      let code = errno
      if code == ENOENT || code == ENOTDIR { return nil }
      throw .ioError(call: "lstat", errno: code, path: path)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return .max }
    return Int(status.st_size)
  }

  package func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    let path = path(of: name)
    let flags: Int32 =
      switch mode {
      case .read: O_RDONLY | O_CLOEXEC
      case .readWrite: O_RDWR | O_CLOEXEC
      case .create: O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
      }
    let descriptor = try openDescriptor(path, flags, mode)
    return PosixFile(descriptor: try aboveStandardStreams(descriptor, path), path: path)
  }

  private func openDescriptor(
    _ path: String, _ flags: Int32, _ mode: FileMode
  ) throws(PageFileError) -> Int32 {
    while true {
      #if canImport(Darwin)
        let descriptor = unsafe Darwin.open(path, flags, 0o600)
      #elseif canImport(Musl)
        let descriptor = unsafe Musl.open(path, flags, 0o600)
      #else
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
      #endif
      if descriptor >= 0 { return descriptor }
      let code = errno
      if code == EINTR { continue }
      if mode != .read && (code == EACCES || code == EROFS) {
        throw .readOnly(reason: "\(path): \(SystemCall.message(code))")
      }
      if code == EACCES { throw .ioError(call: "open", errno: code, path: path) }
      throw SystemCall.error("open", path, code)
    }
  }

  /// Moves a descriptor above 2, because other code assumes that 0 to 2 are the standard streams.
  ///
  /// A stray print must not end up in a data file.
  private func aboveStandardStreams(
    _ descriptor: Int32, _ path: String
  ) throws(PageFileError) -> Int32 {
    if descriptor > 2 { return descriptor }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    let code = errno
    PosixFile(descriptor: descriptor, path: path).close()
    if moved < 0 { throw .ioError(call: "fcntl(F_DUPFD_CLOEXEC)", errno: code, path: path) }
    return moved
  }

  package func rename(_ name: String, to newName: String) throws(PageFileError) {
    let path = path(of: name)
    let newPath = self.path(of: newName)
    if try ExclusiveRename.run(path, newPath) { return }
    // In two steps, so that a killed process may leave both names. `link` fails if the name is
    // taken; `rename` would replace the file that has it.
    if unsafe link(path, newPath) == 0 {
      _ = try SystemCall.run("unlink", path) { unsafe unlink(path) }
      return
    }
    let code = errno
    // Some file systems have no hard links.
    guard code == EPERM || code == ENOTSUP || code == EMLINK, try !exists(newName) else {
      throw .ioError(call: "link", errno: code, path: newPath)
    }
    #if canImport(Darwin)
      _ = try SystemCall.run("rename", path) { unsafe Darwin.rename(path, newPath) }
    #elseif canImport(Musl)
      _ = try SystemCall.run("rename", path) { unsafe Musl.rename(path, newPath) }
    #else
      _ = try SystemCall.run("rename", path) { unsafe Glibc.rename(path, newPath) }
    #endif
  }

  package func remove(_ name: String) throws(PageFileError) {
    let path = path(of: name)
    _ = try SystemCall.run("unlink", path) { unsafe unlink(path) }
  }

  package func sync() throws(PageFileError) {
    let descriptor = try openDescriptor(directoryPath, O_RDONLY | O_CLOEXEC, .read)
    let file = PosixFile(descriptor: descriptor, path: directoryPath)
    defer { file.close() }
    // Not repeated, like the sync of a file: after a failure the names may be lost.
    if fsync(descriptor) != 0 {
      let code = errno
      throw SystemCall.syncError("fsync", directoryPath, code)
    }
  }
}
