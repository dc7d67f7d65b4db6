import PageFile

/// Files in memory that tell a test of every call before it is made, note calls to files that were
/// closed, and know what of their content a sync has made durable.
///
/// With it a test stops the engine in the middle of a step and does something else there.
final class StagedDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  struct Call: Sendable, Hashable {
    enum Kind: Sendable { case open, create, read, write, extend, truncate, sync }
    let kind: Kind
    let name: String
    var offset = 0
  }

  typealias Hook = @Sendable (Call) throws(PageFileError) -> Void

  let files: MemoryDirectory
  private let lock = Lock()
  private var hook: Hook?
  private var durable: [String: [UInt8]] = [:]
  private var calls: [Call] = []

  init(_ files: MemoryDirectory = MemoryDirectory()) { self.files = files }

  /// Has `hook` called before each call; what it throws the call throws.
  func onCall(_ hook: Hook?) { lock.withLock { self.hook = hook } }

  /// Has `body` run before the first call that `isMeant` picks.
  func once(
    _ isMeant: @escaping @Sendable (Call) -> Bool,
    _ body: @escaping @Sendable () throws(PageFileError) -> Void
  ) {
    let isDone = Locked(false)
    onCall { (call) throws(PageFileError) in
      let isFirst = isDone.withLock { isDone in
        if isDone || !isMeant(call) { return false }
        isDone = true
        return true
      }
      if isFirst { try body() }
    }
  }

  /// Calls that were made to a file after it had been closed.
  var callsAfterClose: [Call] { lock.withLock { calls } }

  /// What a power cut leaves when no byte gets to the medium but by a sync.
  func afterPowerCut() -> MemoryDirectory {
    let rest = MemoryDirectory()
    for (name, bytes) in lock.withLock({ durable }) where files.exists(name) { rest[name] = bytes }
    return rest
  }

  fileprivate func tell(_ call: Call, isClosed: Bool) throws(PageFileError) {
    let hook = lock.withLock {
      if isClosed { calls.append(call) }
      return self.hook
    }
    try hook?(call)
  }

  fileprivate func makeDurable(_ name: String) {
    let bytes = files[name]
    lock.withLock { durable[name] = bytes }
  }

  func path(of name: String) -> String { files.path(of: name) }
  func identity(of name: String) -> FileIdentity? { files.identity(of: name) }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    let file = StagedFile(try files.open(name, mode), name, self)
    try tell(Call(kind: mode == .create ? .create : .open, name: name), isClosed: false)
    return file
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try files.rename(name, to: newName)
    lock.withLock { durable[newName] = durable.removeValue(forKey: name) }
  }

  func remove(_ name: String) throws(PageFileError) { try files.remove(name) }
  func sync() {}
}

private final class StagedFile: StorageFile {
  private let file: any StorageFile
  private let name: String
  private let directory: StagedDirectory
  private let isClosed = Locked(false)

  init(_ file: any StorageFile, _ name: String, _ directory: StagedDirectory) {
    self.file = file
    self.name = name
    self.directory = directory
  }

  private func tell(_ kind: StagedDirectory.Call.Kind, at offset: Int = 0) throws(PageFileError) {
    let call = StagedDirectory.Call(kind: kind, name: name, offset: offset)
    try directory.tell(call, isClosed: isClosed.withLock { $0 })
  }

  var path: String { file.path }
  func identity() throws(PageFileError) -> FileIdentity { try file.identity() }
  func byteCount() throws(PageFileError) -> Int { try file.byteCount() }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try tell(.read, at: offset)
    return try file.read(into: target, at: offset)
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    try tell(.write, at: offset)
    try file.write(bytes, at: offset)
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    if try byteCount > file.byteCount() { try tell(.extend, at: byteCount) }
    try file.extend(to: byteCount)
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try tell(.truncate, at: byteCount)
    try file.truncate(to: byteCount)
  }

  func sync() throws(PageFileError) {
    try tell(.sync)
    directory.makeDurable(name)
  }

  func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }

  func close() {
    isClosed.withLock { $0 = true }
    file.close()
  }
}

/// Something that another thread does, and whether it has ended.
final class Aside: Sendable {
  private let worker = Worker()
  private let isDone = Locked(false)

  /// Begins `body` on another thread.
  func begin(_ body: @escaping @Sendable () -> Void) {
    worker.enqueue {
      body()
      self.isDone.withLock { $0 = true }
    }
  }

  /// Waits for the end, but not for ever; false when there was none.
  func hasEnded(withinMilliseconds milliseconds: Int) -> Bool {
    let lock = Lock()
    for _ in 0..<max(1, milliseconds / 5) {
      if isDone.withLock({ $0 }) { return true }
      lock.withLock { lock.wait(milliseconds: 5) }
    }
    return isDone.withLock { $0 }
  }
}
