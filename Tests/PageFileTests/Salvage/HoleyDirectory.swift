import PageFile

/// Files in memory of which some ranges of `x` cannot be read, as on a device that has lost sectors.
final class HoleyDirectory: StorageDirectory {
  private let files: MemoryDirectory
  private let holes: [Range<Int>]

  init(_ files: MemoryDirectory, holes: [Range<Int>]) {
    self.files = files
    self.holes = holes
  }

  func path(of name: String) -> String { files.path(of: name) }
  func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    files.identity(of: name)
  }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    HoleyFile(try files.open(name, mode), name == "x" ? holes : [])
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try files.rename(name, to: newName)
  }

  func remove(_ name: String) throws(PageFileError) { try files.remove(name) }
  func sync() {}
}

private final class HoleyFile: StorageFile {
  private let file: any StorageFile
  private let holes: [Range<Int>]

  init(_ file: any StorageFile, _ holes: [Range<Int>]) {
    self.file = file
    self.holes = holes
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    if holes.contains(where: { $0.overlaps(offset..<offset + target.count) }) {
      throw .ioError(call: "pread", errno: 5, path: path)
    }
    return try file.read(into: target, at: offset)
  }

  var path: String { file.path }
  func identity() throws(PageFileError) -> FileIdentity { try file.identity() }
  func byteCount() throws(PageFileError) -> Int { try file.byteCount() }
  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    try file.write(bytes, at: offset)
  }
  func extend(to byteCount: Int) throws(PageFileError) { try file.extend(to: byteCount) }
  func truncate(to byteCount: Int) throws(PageFileError) { try file.truncate(to: byteCount) }
  func sync() throws(PageFileError) { try file.sync() }
  func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }
  func close() { file.close() }
}
