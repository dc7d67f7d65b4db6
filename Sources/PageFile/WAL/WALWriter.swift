import Synchronization

/// The writer of the log, which appends commits to the current one of the two WAL files and makes
/// them durable, many at a time.
///
///  1. A commit is one write, at the end of the current file, to blocks that are already allocated.
///  2. No commit is reported durable before every earlier one is: a sync covers each file that
///     holds an unsynced commit, the older file first.
///  3. After a failed write of a commit, or a failed sync, nothing more is written, because the
///     content of the disk is unknown. Reopening finds out.
final class WALWriter: @unchecked Sendable {
  // Unchecked: `position` is only touched under `appendLock`, `sync` under `syncLock`, and the
  // allocated sizes under `growLock` together with `appendLock`.
  struct MessagePosition {
    var current: Int
    var generation: Generation
    var offset: Int
    var chain: UInt64
    var lastLSN: LSN
    var allocatedByteCounts: [Int]
    /// The last commit in each file that is not covered by a sync yet.
    var unsyncedLSNs: [LSN?] = [nil, nil]
  }

  private struct Sync {
    var durableLSN: LSN
    var isRunning = false
  }

  let files: [any StorageFile]
  let form: LogForm
  let appendLock = Lock()
  private let syncLock = Lock()
  let growLock = Lock()
  /// One lock per file, held during a sync of that file.
  private let fileLocks = [Lock(), Lock()]
  var position: MessagePosition
  private var sync: Sync
  private var header = ByteBuffer(capacity: WALCommitHeader.byteCount)
  private let poison = Atomic<Bool>(false)
  private let poisonError = Locked(PageFileError.poisoned)
  private let writtenByteCount = Atomic<UInt64>(0)

  /// The smallest size of a WAL file while its store is in use.
  static let byteCountMin = 256 << 10
  /// The size up to which a file grows ahead of need; beyond it, a file grows as commits need it.
  static let maximumByteCount = 8 << 20
  /// The bytes of a file that cannot grow that only commits that make room may fill.
  ///
  /// A checkpoint frees the other file, so these bytes have to last until then.
  static let spareByteCount = 64 << 10

  init(
    files: [any StorageFile], form: LogForm, current: Int, generation: Generation,
    lastLSN: LSN, chain: UInt64, allocatedByteCounts: [Int]
  ) {
    self.files = files
    self.form = form
    position = MessagePosition(
      current: current, generation: generation, offset: WALHeader.commitsOffset, chain: chain,
      lastLSN: lastLSN, allocatedByteCounts: allocatedByteCounts)
    sync = Sync(durableLSN: lastLSN)
  }

  var isPoisoned: Bool { poison.load(ordering: .acquiring) }
  @inline(never)
  func refuseIfPoisoned() throws(PageFileError) {
    if isPoisoned { throw poisonError.withLock { $0 } }
  }
  var durableLSN: LSN { syncLock.withLock { sync.durableLSN } }
  var lastLSN: LSN { appendLock.withLock { position.lastLSN } }
  /// The offset of the next commit in the current file.
  var endOffset: Int { appendLock.withLock { position.offset } }
  /// All bytes written to both files since opening, padding included.
  var byteCountWritten: UInt64 { writtenByteCount.load(ordering: .relaxed) }

  private func write(
    _ bytes: borrowing ByteBuffer, to file: Int, at offset: Int
  ) throws(PageFileError) {
    try files[file].write(bytes, at: offset)
    writtenByteCount.add(UInt64(bytes.count), ordering: .relaxed)
  }

  // MARK: Appending

  /// Appends one commit; called by the one writer.
  ///
  /// When it returns, the commit is in the file and survives the death of the process.
  ///
  /// - Throws: `diskFull` and `deviceLocked` before anything was written; `limitExceeded`;
  ///   `commitUnknown` if the write failed half-way, which poisons the store.
  /// - Parameters:
  ///   - commit: Room for the header, then the frames. The call always consumes them: to retry,
  ///     they have to be made again.
  ///   - usesReserve: True if the spare bytes may be filled when the file cannot grow.
  func append(
    _ commit: inout ByteBuffer, frameCount: Int, roots: Roots, isErasing: Bool, usesReserve: Bool
  ) throws(PageFileError) -> LSN {
    let durableLSN = Defect.durableTooEarly.isPlanted ? lastLSN : self.durableLSN
    let framesByteCount = commit.count - form.framesOffset
    guard framesByteCount <= WALCommitHeader.maximumFramesByteCount else {
      throw .limitExceeded(
        what: "bytes that one transaction adds to the log", value: framesByteCount,
        limit: WALCommitHeader.maximumFramesByteCount)
    }
    let byteCount = form.byteCount(framesByteCount: framesByteCount)
    try makeRoom(byteCount, usesReserve: usesReserve)
    appendLock.lock()
    defer { appendLock.unlock() }
    // A requested checkpoint may have given the room back before this took the lock.
    while !Defect.roomAskedOnce.isPlanted,
      position.offset + byteCount > position.allocatedByteCounts[position.current]
    {
      appendLock.unlock()
      defer { appendLock.lock() }
      try makeRoom(byteCount, usesReserve: usesReserve)
    }
    try refuseIfPoisoned()
    let lsn = position.lastLSN.next
    // The next header has to be able to name the LSN after this one.
    try Counter.check(lsn.next.rawValue, "LSN")
    let commitHeader = WALCommitHeader(
      frameCount: frameCount, lsn: lsn, durableLSN: durableLSN, generation: position.generation,
      framesByteCount: framesByteCount, roots: roots, isErasing: isErasing)
    let chain = form.complete(
      &commit, commitHeader, offset: position.offset, chain: position.chain, using: &header)
    do throws(PageFileError) {
      try write(commit, to: position.current, at: position.offset)
    } catch {
      // Nothing was written; see `StorageFile.write`.
      if error.isRefusal || error == .diskFull { throw error }
      if !Defect.failedWriteForgiven.isPlanted {
        setPoisoned()
        throw .commitUnknown(lsn)
      }
    }
    position.offset += byteCount
    position.chain = chain
    position.lastLSN = lsn
    position.unsyncedLSNs[position.current] = lsn
    if Defect.watermarkTooEarly.isPlanted { writeWatermark(lsn) }
    return lsn
  }

  // MARK: Durability

  /// Returns when every commit up to `lsn` is on the disk.
  ///
  /// The first caller syncs for all commits made by then; the others wait.
  ///
  /// - Throws: `commitUnknown`. The store is not poisoned if the sync was refused because the
  ///   device is locked: a later sync makes the commit durable.
  @inline(never)
  func waitUntilDurable(_ lsn: LSN) throws(PageFileError) {
    syncLock.lock()
    while sync.durableLSN < lsn {
      if isPoisoned {
        syncLock.unlock()
        throw .commitUnknown(lsn)
      }
      if sync.isRunning {
        syncLock.wait()
        continue
      }
      sync.isRunning = true
      syncLock.unlock()
      let covered = try? syncFiles()
      syncLock.lock()
      sync.isRunning = false
      if let covered { sync.durableLSN = max(sync.durableLSN, covered) }
      syncLock.broadcast()
      if covered == nil {
        syncLock.unlock()
        throw .commitUnknown(lsn)
      }
    }
    syncLock.unlock()
  }

  /// Syncs each file that holds an unsynced commit and returns the last LSN covered.
  private func syncFiles() throws(PageFileError) -> LSN {
    appendLock.lock()
    let covered = position.lastLSN
    let older = 1 - position.current
    let unsynced = position.unsyncedLSNs
    let order = [older, position.current]
    appendLock.unlock()
    for file in order where unsynced[file] != nil {
      if Defect.commitUnsynced.isPlanted { continue }
      if Defect.olderLogUnsynced.isPlanted && file == older { continue }
      // Durable after this: every commit in the file up to `covered`, and its header.
      try syncFile(file)
    }
    appendLock.lock()
    for file in order where position.unsyncedLSNs[file] == unsynced[file] {
      position.unsyncedLSNs[file] = nil
    }
    writeWatermark(covered)
    appendLock.unlock()
    return covered
  }

  /// Syncs one file; a failure poisons the store, unless a locked device refused the sync.
  ///
  /// Only one sync of a file runs at a time: the system reports a failure to one caller only, and
  /// the next sync would succeed without the lost bytes.
  func syncFile(_ file: Int) throws(PageFileError) {
    fileLocks[file].lock()
    defer { fileLocks[file].unlock() }
    try refuseIfPoisoned()
    do throws(PageFileError) {
      try files[file].sync()
    } catch {
      if Defect.failedSyncForgiven.isPlanted { return }
      if !error.isRefusal && !Defect.failedSyncRepeated.isPlanted { setPoisoned() }
      throw error
    }
  }

  /// Writes a watermark where the next commit will begin, unless that commit is already there; then
  /// the commit after it will be the witness.
  ///
  /// A failure is harmless: recovery does not need the watermark.
  private func writeWatermark(_ durable: LSN) {
    guard position.lastLSN == durable,
      position.offset + WALHeader.sectorByteCount
        <= position.allocatedByteCounts[position.current]
    else { return }
    let watermark = WALWatermark(durableLSN: durable, generation: position.generation)
    try? write(
      form.encode(watermark, offset: position.offset), to: position.current,
      at: position.offset)
  }

  // MARK: The turn

  /// Begins the other file with a fresh generation; commits go there from now on.
  ///
  /// The caller keeps out writers and knows that the other file's checkpoint was published durably.
  /// Returns the file that ended and the chain value that it ended with.
  /// - Parameter random: The random part of the generation.
  func turn(
    random: UInt64
  ) throws(PageFileError) -> (ended: Int, lsn: LSN, chain: UInt64, next: Generation) {
    // Do not take `growLock`: megabytes of zeros may be written under it, and writers wait for this
    // call.
    appendLock.lock()
    defer { appendLock.unlock() }
    let ended = position.current
    try Counter.check(position.generation.counter + 1, "WAL generation")
    let next = Generation(after: position.generation.counter, random: random)
    let header = WALHeader(
      storeID: form.storeID, isEmpty: false, generation: next, firstLSN: position.lastLSN.next,
      chain: position.chain)
    try write(header.encode(form.keys), to: 1 - ended, at: 0)
    position.current = 1 - ended
    position.generation = next
    position.offset = WALHeader.commitsOffset
    return (ended, position.lastLSN, position.chain, next)
  }

  /// The file that commits go to, the last LSN and its chain value, and the file's generation.
  var end: (file: Int, lsn: LSN, chain: UInt64, generation: Generation) {
    appendLock.withLock {
      (position.current, position.lastLSN, position.chain, position.generation)
    }
  }

  /// Syncs the file that was begun by a turn.
  func syncBegun(_ file: Int) throws(PageFileError) {
    // Durable after this: its header.
    if !Defect.begunLogUnsynced.isPlanted { try syncFile(file) }
  }

  /// Syncs a file that gets no more commits, unless a sync has already covered all of them.
  func syncEnded(_ file: Int) throws(PageFileError) {
    guard let covered = appendLock.withLock({ position.unsyncedLSNs[file] }) else {
      return try refuseIfPoisoned()
    }
    // Durable after this: its commits.
    if !Defect.endedLogUnsynced.isPlanted { try syncFile(file) }
    appendLock.withLock {
      if position.unsyncedLSNs[file] == covered { position.unsyncedLSNs[file] = nil }
    }
    syncLock.withLock {
      sync.durableLSN = max(sync.durableLSN, covered)
      syncLock.broadcast()
    }
  }

  /// Marks a file as empty, durably; its commits are in the data file, and no meta slot names it.
  func markEmpty(_ file: Int) throws(PageFileError) {
    let header = appendLock.withLock {
      precondition(file != position.current, "WAL file: in use")
      return WALHeader(
        storeID: form.storeID, isEmpty: true, generation: .none, firstLSN: position.lastLSN.next,
        chain: position.chain)
    }
    try write(header.encode(form.keys), to: file, at: 0)
    // Durable after this: the header.
    try syncFile(file)
  }

  // MARK: Erasing

  /// Durably overwrites all of a file whose commits no longer count; no meta slot names it.
  ///
  /// - Parameter settled: The LSN up to which all commits are in the data file.
  func eraseLeftovers(_ file: Int, settled: LSN) throws(PageFileError) {
    try growLock.withLock { () throws(PageFileError) in
      // The size does not change while the zeros are written, so no other lock is held: the file
      // does not turn or grow, and commits go to the other one.
      let end = appendLock.withLock {
        precondition(file != position.current, "WAL file: in use")
        return position.allocatedByteCounts[file]
      }
      try markSettled(file, upTo: settled)
      try writeZeros(files[file], from: WALHeader.commitsOffset, to: end)
    }
    // Durable after this: the zeros.
    if !Defect.erasedLogUnsynced.isPlanted { try syncFile(file) }
  }

  /// Gives back the space that a file has grown by and that holds no commit.
  /// - Parameters:
  ///   - settled: The LSN up to which all commits are in the data file.
  ///   - isOver: True if those are all commits and none can follow.
  func shrink(_ file: Int, settled: LSN, isOver: Bool) throws(PageFileError) {
    growLock.lock()
    defer { growLock.unlock() }
    appendLock.lock()
    defer { appendLock.unlock() }
    let end = file == position.current && !isOver ? position.offset + Self.spareByteCount : 0
    let target = (end / Self.byteCountMin + 1) * Self.byteCountMin
    guard position.allocatedByteCounts[file] > target else { return }
    if file != position.current || isOver { try markSettled(file, upTo: settled) }
    try files[file].truncate(to: target)
    position.allocatedByteCounts[file] = target
  }

  /// Waits until no sync is running and refuses further writes: the files are about to be closed.
  func finish() {
    syncLock.lock()
    while sync.isRunning { syncLock.wait() }
    setPoisoned()
    syncLock.broadcast()
    syncLock.unlock()
  }

  /// Refuses all further writes.
  /// - Parameter error: The error that they get, if it says more than `poisoned`.
  func setPoisoned(_ error: PageFileError = .poisoned) {
    if !isPoisoned { poisonError.withLock { $0 = error } }
    poison.store(true, ordering: .releasing)
  }
}
