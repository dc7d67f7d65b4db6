package import PageFile

/// A directory on a simulated disk, as one process sees it.
///
/// Its calls change the disk under one lock. Before each that does, an observer gets the disk as it
/// is: what a crash at this moment would leave behind. A kill ends the use of a directory, `die`; the
/// next process makes another one on the same disk.
package final class SimulatedDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: all fields that change are only touched under `lock`.
  private let lock = Lock()
  private var state: State
  package let profile: DiskProfile

  struct State {
    var disk: SimulatedDisk
    var isDead = false
    var lockedInodes: [Int] = []
    var openFileCount = 0
    var callCounts = [Int](repeating: 0, count: Fault.Call.allCases.count)
    var trouble: Trouble?
    var faultCount = 0
    var lastFault: Fault.Reason?
    var misuse: String?
    var traceHash: UInt64 = 0
    var counts = DiskCounts()
    var observer: (SimulatedDisk, _ faultCount: Int) -> Void = { _, _ in }
    var interlude: (String) -> Void = { _ in }
  }

  package init(_ disk: SimulatedDisk = SimulatedDisk(), _ profile: DiskProfile = .worst) {
    state = State(disk: disk)
    self.profile = profile
  }

  // MARK: What tests see and set

  /// The disk as it is now: what a kill leaves.
  package var disk: SimulatedDisk { lock.withLock { state.disk } }

  /// Calls `observer` before each call that changes the disk or syncs it, with the number of calls
  /// that were made to fail.
  ///
  /// It must not use this directory.
  package func observe(_ observer: @escaping (SimulatedDisk, _ faultCount: Int) -> Void) {
    lock.withLock { state.observer = observer }
  }

  /// Calls `interlude` with the name of the file before each write and each sync of a file, with the
  /// disk free to be used: what it does is what another thread would do at this moment.
  package func interrupt(with interlude: @escaping (String) -> Void) {
    lock.withLock { state.interlude = interlude }
  }

  func interrupt(_ path: String) { lock.withLock { state.interlude }(path) }

  /// From now on every call fails and changes nothing: the process is gone.
  package func die() {
    lock.withLock {
      state.isDead = true
      state.observer = { _, _ in }
      state.interlude = { _ in }
    }
  }

  /// Has things go wrong from now on; calls are counted from the beginning.
  package func set(_ trouble: Trouble?) { lock.withLock { state.trouble = trouble } }

  package var trouble: Trouble? { lock.withLock { state.trouble } }

  /// How many calls were made to fail.
  package var faultCount: Int { lock.withLock { state.faultCount } }

  /// Why a call was made to fail last.
  package var lastFault: Fault.Reason? { lock.withLock { state.lastFault } }

  /// How often each kind of call was made.
  package var callCounts: [Int] { lock.withLock { state.callCounts } }

  /// The first mistake in the use of files: a call on a closed one, or closing it twice.
  package var misuse: String? { lock.withLock { state.misuse } }

  package var openFileCount: Int { lock.withLock { state.openFileCount } }

  /// Depends on every call that has changed anything, and on their order.
  package var traceHash: UInt64 { lock.withLock { state.traceHash } }

  package var counts: DiskCounts { lock.withLock { state.counts } }

  /// A random number that every run repeats, and no other process on this disk gets.
  package func draw() -> UInt64 { lock.withLock { state.disk.draw() } }

  // MARK: Calls

  func run<R>(
    _ call: String, _ path: String, _ body: (inout State) throws(PageFileError) -> R
  ) throws(PageFileError) -> R {
    lock.lock()
    defer { lock.unlock() }
    if state.isDead { throw .ioError(call: call, errno: 5, path: path) }
    return try body(&state)
  }

  /// Closing works for the dead as well: the kernel does it.
  func close(_ body: (inout State) -> Void) { lock.withLock { body(&state) } }

  package func path(of name: String) -> String { name }

  package func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    try run("stat", name) { state in state.disk.inode(named: name).map(state.disk.identity) }
  }

  package func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    try run("open", name) { (state) throws(PageFileError) in
      if mode == .create {
        if state.disk.inode(named: name) != nil {
          throw .ioError(call: "open", errno: 17, path: name)
        }
        try state.begin(.name, "open", name)
        let inode = state.disk.makeInode()
        state.disk.link(name, to: inode)
      }
      guard let inode = state.disk.inode(named: name) else {
        throw .ioError(call: "open", errno: 2, path: name)
      }
      state.openFileCount += 1
      return SimulatedFile(
        self, inode: inode, path: name, isWritable: mode != .read,
        toldLossCount: state.disk.toldLossCount(of: inode))
    }
  }

  /// Two calls, as on a real system, which can be killed between them.
  package func rename(_ name: String, to newName: String) throws(PageFileError) {
    try run("link", name) { (state) throws(PageFileError) in
      guard state.disk.inode(named: newName) == nil else {
        throw .ioError(call: "link", errno: 17, path: newName)
      }
      guard let inode = state.disk.inode(named: name) else {
        throw .ioError(call: "link", errno: 2, path: name)
      }
      try state.begin(.name, "link", newName)
      state.disk.link(newName, to: inode)
    }
    try remove(name)
  }

  package func remove(_ name: String) throws(PageFileError) {
    try run("unlink", name) { (state) throws(PageFileError) in
      guard state.disk.inode(named: name) != nil else {
        throw .ioError(call: "unlink", errno: 2, path: name)
      }
      try state.begin(.name, "unlink", name)
      state.disk.unlink(name)
    }
  }

  package func sync() throws(PageFileError) {
    try run("fsync", ".") { (state) throws(PageFileError) in
      try state.begin(.nameSync, "fsync", ".")
      if !profile.isLiar { state.disk.syncNames() }
    }
  }
}

extension SimulatedDirectory.State {
  /// Counts a call and throws what the fault says of it.
  mutating func begin(
    _ call: Fault.Call, _ name: String, _ path: String
  ) throws(PageFileError) {
    if let fault = fault(at: call, name, path) { throw fault.error(name, path) }
  }

  /// Counts a call, shows the disk to the observer, and answers the fault that hits the call.
  mutating func fault(at call: Fault.Call, _ name: String, _ path: String) -> Fault? {
    if call != .read {
      observer(disk, faultCount)
      traceHash = SeededRandom.mix(traceHash ^ name.contentHash ^ path.contentHash)
    }
    defer { callCounts[call.rawValue] += 1 }
    guard case .fault(let fault) = trouble, fault.hits(call, callCounts) else { return nil }
    faultCount += 1
    lastFault = fault.reason
    return fault
  }

  /// Notes as misuse that the header of a log in use is written over.
  ///
  /// The disk keeps its sectors whole, so no crash shows what a torn header would take along.
  mutating func refuseToTear(_ inode: Int, _ path: String) {
    guard path.hasSuffix("-wal0") || path.hasSuffix("-wal1"),
      let dataFile = disk.inode(named: String(path.dropLast(5)))
    else { return }
    func read<R>(_ inode: Int, at offset: Int, _ body: (Bytes) -> R) -> R {
      var bytes = ByteBuffer(capacity: 512)
      bytes.append(zeros: 512)
      let count = disk.read(inode, into: bytes.mutableBytes, at: offset)
      return body(bytes.bytes.slice(0, count))
    }
    guard let header = read(inode, at: 0, { WALHeader($0) }) else { return }
    for index in 0..<2 {
      let reading = read(dataFile, at: MetaSlot.offset(of: index)) { MetaSlot.read($0) }
      guard case .valid(let meta) = reading, meta.writer == .turn, !meta.isClean,
        meta.generation == header.generation
      else { continue }
      misuse = misuse ?? "\(path): the header of a log in use is written over"
    }
  }

  /// Refuses to make files longer than there is room for.
  mutating func refuse(_ additionalByteCount: Int) throws(PageFileError) {
    guard case .room(let maximumByteCount) = trouble, additionalByteCount > 0,
      disk.byteCount + additionalByteCount > maximumByteCount
    else { return }
    faultCount += 1
    throw .diskFull
  }
}

/// What a run has done to files, to see that it has tested anything.
package struct DiskCounts: Sendable, Hashable {
  /// The data file was made longer.
  package var growthCount = 0
  /// A WAL file was begun anew.
  package var turnCount = 0
}
