import PageFile

/// Files of which each call is announced before it is made.
final class WatchedDirectory: StorageDirectory {
  private let directory: any StorageDirectory
  private let beforeCall: @Sendable () -> Void

  init(_ directory: any StorageDirectory, beforeCall: @escaping @Sendable () -> Void) {
    self.directory = directory
    self.beforeCall = beforeCall
  }

  func path(of name: String) -> String { directory.path(of: name) }

  func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    beforeCall()
    return try directory.identity(of: name)
  }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    beforeCall()
    return WatchedFile(try directory.open(name, mode), beforeCall)
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    beforeCall()
    try directory.rename(name, to: newName)
  }

  func remove(_ name: String) throws(PageFileError) {
    beforeCall()
    try directory.remove(name)
  }

  func sync() throws(PageFileError) {
    beforeCall()
    try directory.sync()
  }
}

private final class WatchedFile: StorageFile {
  private let file: any StorageFile
  private let beforeCall: @Sendable () -> Void

  init(_ file: any StorageFile, _ beforeCall: @escaping @Sendable () -> Void) {
    self.file = file
    self.beforeCall = beforeCall
  }

  var path: String { file.path }

  func identity() throws(PageFileError) -> FileIdentity {
    beforeCall()
    return try file.identity()
  }

  func byteCount() throws(PageFileError) -> Int {
    beforeCall()
    return try file.byteCount()
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    beforeCall()
    return try file.read(into: target, at: offset)
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    beforeCall()
    try file.write(bytes, at: offset)
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    beforeCall()
    try file.extend(to: byteCount)
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    beforeCall()
    try file.truncate(to: byteCount)
  }

  func sync() throws(PageFileError) {
    beforeCall()
    try file.sync()
  }

  func tryLock() throws(PageFileError) -> Bool {
    beforeCall()
    return try file.tryLock()
  }

  func close() {
    beforeCall()
    file.close()
  }
}
