import PageFile

/// Files in memory whose syncs and pages can be made to fail, and whose names last only once the directory was
/// synced.
///
/// Contents count as durable at once: this is about names, and about who closes what.
final class FailingDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  let files: MemoryDirectory
  private let lock = Lock()
  private var durableNames: Set<String> = []
  private var fileSyncCountLeft = Int.max
  private var directorySyncCountLeft = Int.max
  private var refusesPages = false
  private var isLocked = false
  private var syncCountUntilLocked: Int?
  private var isFull = false
  private(set) var closeCounts: [ObjectIdentifier: Int] = [:]
  private var opened: [FailingFile] = []

  init(_ files: MemoryDirectory = MemoryDirectory()) { self.files = files }

  /// Lets this many syncs of files and of the directory succeed, and fails all later ones.
  func failSyncs(ofFilesAfter fileCount: Int = .max, ofNamesAfter directoryCount: Int = .max) {
    lock.withLock {
      fileSyncCountLeft = fileCount
      directorySyncCountLeft = directoryCount
    }
  }

  /// Whether pages of the data file can be written; meta slots always can.
  func refusePages(_ refuses: Bool) { lock.withLock { refusesPages = refuses } }

  /// Whether the device is locked: then nothing can be written or made durable.
  func lockDevice(_ isLocked: Bool) {
    lock.withLock {
      self.isLocked = isLocked
      syncCountUntilLocked = nil
    }
  }

  /// Locks the device when this many syncs of files have been made.
  func lockDevice(afterSyncs count: Int) { lock.withLock { syncCountUntilLocked = count } }

  /// Whether the device is full: then no file can grow.
  func fillDevice(_ isFull: Bool) { lock.withLock { self.isFull = isFull } }

  fileprivate func refuseIfLocked(_ path: String) throws(PageFileError) {
    if lock.withLock({ isLocked }) { throw .deviceLocked(call: "call", path: path) }
  }

  fileprivate func grow() throws(PageFileError) {
    if lock.withLock({ isFull }) { throw .diskFull }
  }

  fileprivate func write(to path: String, at offset: Int) throws(PageFileError) {
    if path == self.path(of: "x") && offset >= 32768 && lock.withLock({ refusesPages }) {
      throw .diskFull
    }
  }

  /// What a power cut leaves: the files whose names were durable.
  func afterPowerCut() -> MemoryDirectory {
    let rest = files.copy()
    for name in ["x", "x-wal0", "x-wal1"] where !lock.withLock({ durableNames.contains(name) }) {
      rest[name] = nil
    }
    return rest
  }

  /// How often the file that was closed most often was closed.
  var maximumCloseCount: Int { lock.withLock { closeCounts.values.max() ?? 0 } }

  fileprivate func closed(_ file: FailingFile) {
    lock.withLock { closeCounts[ObjectIdentifier(file), default: 0] += 1 }
  }

  fileprivate func syncFile() throws(PageFileError) {
    try lock.withLock { () throws(PageFileError) in
      if let count = syncCountUntilLocked {
        if count == 0 {
          isLocked = true
          throw .deviceLocked(call: "call", path: "x")
        }
        syncCountUntilLocked = count - 1
      }
      if fileSyncCountLeft <= 0 { throw .ioError(call: "sync", errno: 5, path: "x") }
      fileSyncCountLeft -= 1
    }
  }

  func path(of name: String) -> String { files.path(of: name) }
  func identity(of name: String) -> FileIdentity? { files.identity(of: name) }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    let file = FailingFile(try files.open(name, mode), self)
    // Kept, so that no other file gets its identity.
    lock.withLock { opened.append(file) }
    return file
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try files.rename(name, to: newName)
  }

  func remove(_ name: String) throws(PageFileError) { try files.remove(name) }

  func sync() throws(PageFileError) {
    try lock.withLock { () throws(PageFileError) in
      if directorySyncCountLeft <= 0 { throw .ioError(call: "sync", errno: 5, path: "directory") }
      directorySyncCountLeft -= 1
      for name in ["x", "x-wal0", "x-wal1"] where files.exists(name) { durableNames.insert(name) }
    }
  }
}

private final class FailingFile: StorageFile {
  private let file: any StorageFile
  private let directory: FailingDirectory

  init(_ file: any StorageFile, _ directory: FailingDirectory) {
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
    try directory.refuseIfLocked(path)
    try directory.write(to: path, at: offset)
    if try offset + bytes.count > file.byteCount() { try directory.grow() }
    try file.write(bytes, at: offset)
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try directory.refuseIfLocked(path)
    if try byteCount > file.byteCount() { try directory.grow() }
    try file.extend(to: byteCount)
  }

  func truncate(to byteCount: Int) throws(PageFileError) { try file.truncate(to: byteCount) }

  func sync() throws(PageFileError) {
    try directory.refuseIfLocked(path)
    try directory.syncFile()
    try file.sync()
  }

  func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }

  func close() {
    directory.closed(self)
    file.close()
  }
}
