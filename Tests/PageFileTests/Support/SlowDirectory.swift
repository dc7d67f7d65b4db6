import PageFile

/// Files in memory of which one call can be made to last until it is let go, and that note each call on
/// a file that was closed.
final class SlowDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  private let files: MemoryDirectory
  private let lock = Lock()
  private var holdsNewEntries = false
  private var isInside = false
  private var callsOnClosedFiles: [String] = []
  private var whenReading: (() -> Void)?

  init(_ files: MemoryDirectory = MemoryDirectory()) { self.files = files }

  /// Has something happen before each read, but for those that it makes itself.
  func beforeReads(_ body: (() -> Void)?) { lock.withLock { whenReading = body } }

  fileprivate func willRead() {
    let body = lock.withLock {
      defer { whenReading = nil }
      return whenReading
    }
    guard let body else { return }
    body()
    lock.withLock { whenReading = body }
  }

  /// Has the next sync of a file last until `letGo`.
  func holdNextSync() { lock.withLock { holdsNewEntries = true } }

  /// Waits until a sync is held.
  func waitUntilHeld() {
    lock.lock()
    while !isInside { lock.wait() }
    lock.unlock()
  }

  func letGo() {
    lock.withLock {
      holdsNewEntries = false
      lock.broadcast()
    }
  }

  var callsAfterClosing: [String] { lock.withLock { callsOnClosedFiles } }

  fileprivate func waitIfHeld() {
    lock.lock()
    defer { lock.unlock() }
    guard holdsNewEntries, !isInside else { return }
    isInside = true
    lock.broadcast()
    while holdsNewEntries { lock.wait() }
    isInside = false
  }

  fileprivate func note(_ call: String, isOpen: Bool) {
    if !isOpen { lock.withLock { callsOnClosedFiles.append(call) } }
  }

  func path(of name: String) -> String { files.path(of: name) }
  func identity(of name: String) -> FileIdentity? { files.identity(of: name) }
  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    SlowFile(try files.open(name, mode), self)
  }
  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try files.rename(name, to: newName)
  }
  func remove(_ name: String) throws(PageFileError) { try files.remove(name) }
  func sync() throws(PageFileError) {}
}

private final class SlowFile: StorageFile {
  private let file: any StorageFile
  private let directory: SlowDirectory
  private let isOpen = Locked(true)

  init(_ file: any StorageFile, _ directory: SlowDirectory) {
    self.file = file
    self.directory = directory
  }

  private func note(_ call: String) { directory.note(call, isOpen: isOpen.withLock { $0 }) }

  var path: String { file.path }
  func identity() throws(PageFileError) -> FileIdentity { try file.identity() }
  func byteCount() throws(PageFileError) -> Int { try file.byteCount() }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    directory.willRead()
    note("read")
    return try file.read(into: target, at: offset)
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    note("write")
    try file.write(bytes, at: offset)
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    note("extend")
    try file.extend(to: byteCount)
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    note("truncate")
    try file.truncate(to: byteCount)
  }

  func sync() throws(PageFileError) {
    directory.waitIfHeld()
    note("sync")
    try file.sync()
  }

  func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }

  func close() {
    isOpen.withLock { $0 = false }
    file.close()
  }
}
