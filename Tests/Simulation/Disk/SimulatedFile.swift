import PageFile

/// One open file of a simulated directory.
///
/// Transfers are whole: that the system may move fewer bytes than asked for is below this, in
/// `PosixFile`.
final class SimulatedFile: StorageFile, @unchecked Sendable {
  // Unchecked: the fields that change are only touched under the directory's lock.
  let path: String
  private let directory: SimulatedDirectory
  private let inode: Int
  private let isWritable: Bool
  private var isClosed = false
  private var holdsLock = false
  private var toldLossCount: Int

  init(
    _ directory: SimulatedDirectory, inode: Int, path: String, isWritable: Bool, toldLossCount: Int
  ) {
    self.directory = directory
    self.inode = inode
    self.path = path
    self.isWritable = isWritable
    self.toldLossCount = toldLossCount
  }

  private func run<R>(
    _ call: String, writes: Bool = false,
    _ body: (inout SimulatedDirectory.State) throws(PageFileError) -> R
  ) throws(PageFileError) -> R {
    try directory.run(call, path) { (state) throws(PageFileError) in
      if isClosed || (writes && !isWritable) {
        state.misuse =
          state.misuse ?? "\(call) of \(path), which is \(isClosed ? "closed" : "read")"
        throw .ioError(call: call, errno: 9, path: path)
      }
      return try body(&state)
    }
  }

  func identity() throws(PageFileError) -> FileIdentity {
    try run("fstat") { state in state.disk.identity(of: inode) }
  }

  func byteCount() throws(PageFileError) -> Int {
    try run("lseek") { state in state.disk.byteCount(of: inode) }
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try run("pread") { (state) throws(PageFileError) in
      try state.begin(.read, "pread", path)
      return state.disk.read(inode, into: target, at: offset)
    }
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    directory.interrupt(path)
    try run("pwrite", writes: true) { (state) throws(PageFileError) in
      let payload = Payload(bytes)
      if offset == 0 { state.refuseToTear(inode, path) }
      let fault = state.fault(at: .write, "pwrite", path)
      state.traceHash = SeededRandom.mix(state.traceHash ^ payload.contentHash &+ UInt64(offset))
      try state.refuse(offset + bytes.count - state.disk.byteCount(of: inode))
      if let fault {
        if fault.reason == .broken { writePart(of: bytes, at: offset, &state) }
        throw fault.error("pwrite", path)
      }
      state.disk.write(inode, payload, at: offset)
      if offset == 0 && path.contains("-wal") { state.counts.turnCount += 1 }
      loseLate(&state)
    }
  }

  /// Of a write that failed any part may be there; which one depends on the number of the fault.
  private func writePart(of bytes: Bytes, at offset: Int, _ state: inout SimulatedDirectory.State) {
    let sectorCount = (bytes.count + Sector.byteCount - 1) / Sector.byteCount
    let written =
      switch (state.faultCount + bytes.count / Sector.byteCount) % 3 {
      case 0: 0
      case 1: (sectorCount + 1) / 2 * Sector.byteCount
      default: bytes.count
      }
    state.disk.write(inode, Payload(bytes.slice(0, min(bytes.count, written))), at: offset)
  }

  /// Bytes may be lost long before a sync tells of it: just after the write that precedes it.
  private func loseLate(_ state: inout SimulatedDirectory.State) {
    guard case .fault(let fault) = state.trouble, fault.failedSync == .tellsLate,
      fault.hits(.sync, state.callCounts)
    else { return }
    state.faultCount += 1
    state.disk.losePending(inode, isCacheOld: fault.first % 2 == 0)
    state.disk.addLoss(inode)
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try run("fallocate", writes: true) { (state) throws(PageFileError) in
      guard byteCount > state.disk.byteCount(of: inode) else { return }
      try state.begin(.extend, "fallocate", path)
      try state.refuse(byteCount - state.disk.byteCount(of: inode))
      state.disk.resize(inode, to: byteCount)
      if !path.contains("-wal") { state.counts.growthCount += 1 }
    }
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try run("ftruncate", writes: true) { (state) throws(PageFileError) in
      try state.begin(.write, "ftruncate", path)
      state.disk.resize(inode, to: byteCount)
    }
  }

  func sync() throws(PageFileError) {
    directory.interrupt(path)
    try run("fdatasync") { (state) throws(PageFileError) in
      let fault = state.fault(at: .sync, "fdatasync", path)
      if let fault, fault.failedSync != .tellsLate {
        // A locked device refuses before it does anything, see `StorageFile.sync`.
        if fault.reason != .locked { lose(fault.failedSync, &state) }
        throw fault.error("fdatasync", path)
      }
      if state.disk.tellLosses(inode, after: &toldLossCount) {
        state.faultCount += 1
        throw .ioError(call: "fdatasync", errno: 5, path: path)
      }
      if directory.profile.isLiar { return }
      state.disk.sync(inode)
      if directory.profile.syncsNamesWithFiles { state.disk.syncNames() }
    }
  }

  private func lose(_ how: Fault.FailedSync, _ state: inout SimulatedDirectory.State) {
    switch how {
    case .keepsAll, .tellsLate: return
    case .tellsOne: state.disk.losePending(inode, isCacheOld: false)
    case .showsNew, .showsOld:
      state.disk.losePending(inode, isCacheOld: how == .showsOld)
      state.disk.addLoss(inode)
      _ = state.disk.tellLosses(inode, after: &toldLossCount)
    }
  }

  func tryLock() throws(PageFileError) -> Bool {
    try run("lock") { state in
      if state.lockedInodes.contains(inode) { return false }
      state.lockedInodes.append(inode)
      holdsLock = true
      return true
    }
  }

  func close() {
    directory.close { state in
      if isClosed {
        state.misuse = state.misuse ?? "\(path) is closed twice"
        return
      }
      isClosed = true
      state.openFileCount -= 1
      if holdsLock { state.lockedInodes.removeAll { $0 == inode } }
      holdsLock = false
    }
  }
}
