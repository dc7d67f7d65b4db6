import PageFile

/// Files in memory that can be copied, all at one moment, before any operation that changes them.
///
/// `MemoryDirectory.copy` takes one file after the other, which beside a thread that writes gives
/// files of different moments. Here every change and every copy is made under one lock, so a copy is
/// what a process killed between two system calls leaves behind.
final class WatchedDirectory: StorageDirectory {
  private let files: MemoryDirectory
  private let lock = Lock()
  private let beforeChange: @Sendable (MemoryDirectory) -> Void

  /// - Parameter beforeChange: Called with the files as they are; must not change them.
  init(
    _ files: MemoryDirectory = MemoryDirectory(),
    beforeChange: @escaping @Sendable (MemoryDirectory) -> Void = { _ in }
  ) {
    self.files = files
    self.beforeChange = beforeChange
  }

  func copy() -> MemoryDirectory { lock.withLock { files.copy() } }

  fileprivate func change<R>(_ body: () throws(PageFileError) -> R) throws(PageFileError) -> R {
    lock.lock()
    defer { lock.unlock() }
    beforeChange(files)
    return try body()
  }

  func path(of name: String) -> String { files.path(of: name) }
  func identity(of name: String) -> FileIdentity? { files.identity(of: name) }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    let file = try change { () throws(PageFileError) in try files.open(name, mode) }
    return WatchedFile(file, self)
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try change { () throws(PageFileError) in try files.rename(name, to: newName) }
  }

  func remove(_ name: String) throws(PageFileError) {
    try change { () throws(PageFileError) in try files.remove(name) }
  }

  func sync() {}
}

private final class WatchedFile: StorageFile {
  private let file: any StorageFile
  private let directory: WatchedDirectory

  init(_ file: any StorageFile, _ directory: WatchedDirectory) {
    self.file = file
    self.directory = directory
  }

  var path: String { file.path }
  func identity() throws(PageFileError) -> FileIdentity { try file.identity() }
  func byteCount() throws(PageFileError) -> Int { try file.byteCount() }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try file.read(into: target, at: offset)
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    try directory.change { () throws(PageFileError) in try file.write(bytes, at: offset) }
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try directory.change { () throws(PageFileError) in try file.extend(to: byteCount) }
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try directory.change { () throws(PageFileError) in try file.truncate(to: byteCount) }
  }

  func sync() throws(PageFileError) { try file.sync() }
  func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }
  func close() { file.close() }
}
