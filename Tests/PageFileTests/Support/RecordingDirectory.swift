import PageFile

/// Files in memory that keep every write.
final class RecordingDirectory: StorageDirectory {
  struct Write: Sendable {
    let name: String
    let offset: Int
    let bytes: [UInt8]
  }

  let files = MemoryDirectory()
  private let written = Locked<[Write]>([])

  /// What was written, in this order.
  var writes: [Write] { written.withLock { $0 } }

  fileprivate func note(_ name: String, _ offset: Int, _ bytes: Bytes) {
    let bytes = bytes.array()
    written.withLock { $0.append(Write(name: name, offset: offset, bytes: bytes)) }
  }

  func path(of name: String) -> String { files.path(of: name) }
  func identity(of name: String) -> FileIdentity? { files.identity(of: name) }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    RecordingFile(try files.open(name, mode), name, self)
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try files.rename(name, to: newName)
  }

  func remove(_ name: String) throws(PageFileError) { try files.remove(name) }
  func sync() {}
}

private final class RecordingFile: StorageFile {
  private let file: any StorageFile
  private let name: String
  private let directory: RecordingDirectory

  init(_ file: any StorageFile, _ name: String, _ directory: RecordingDirectory) {
    self.file = file
    self.name = name
    self.directory = directory
  }

  var path: String { file.path }
  func identity() throws(PageFileError) -> FileIdentity { try file.identity() }
  func byteCount() throws(PageFileError) -> Int { try file.byteCount() }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try file.read(into: target, at: offset)
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    directory.note(name, offset, bytes)
    try file.write(bytes, at: offset)
  }

  func extend(to byteCount: Int) throws(PageFileError) { try file.extend(to: byteCount) }
  func truncate(to byteCount: Int) throws(PageFileError) { try file.truncate(to: byteCount) }
  func sync() throws(PageFileError) { try file.sync() }
  func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }
  func close() { file.close() }
}
