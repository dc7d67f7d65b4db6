import Synchronization

/// Appends commits to the current one of the two WAL files and makes them durable, many at a time.
///
///  1. A commit is one write, at the end of the current file, on blocks that exist.
///  2. No commit is reported durable before every earlier one is: a sync covers each file that holds
///     an unsynced commit, the older file first.
///  3. After a failed write of a commit, or a failed sync, nothing more is written: what the disk
///     holds is unknown. Reopening finds out.
final class WALWriter: @unchecked Sendable {
  // Unchecked: `position` is only touched under `appendLock`, `sync` under `syncLock`, and the
  // allocated sizes under `growLock` together with `appendLock`.
  struct Position {
    var current: Int
    var generation: Generation
    var offset: Int
    var chain: UInt64
    var lastLSN: LSN
    var allocatedByteCounts: [Int]
    /// The last commit in each file that no sync has covered yet.
    var unsyncedLSNs: [LSN?] = [nil, nil]
  }

  private struct Sync {
    var durableLSN: LSN
    var isRunning = false
  }

  let files: [any StorageFile]
  private let storeID: StoreID
  let appendLock = Lock()
  private let syncLock = Lock()
  let growLock = Lock()
  /// One for each file, held by whoever syncs it.
  private let fileLocks = [Lock(), Lock()]
  var position: Position
  private var sync: Sync
  private var header = ByteBuffer(capacity: WALCommitHeader.byteCount)
  private let poison = Atomic<Bool>(false)
  private let writtenByteCount = Atomic<UInt64>(0)

  /// A WAL file is never smaller while its store is in use.
  static let byteCountMin = 256 << 10
  /// A file grows ahead of the work up to this size; a longer one grows as commits need it.
  static let byteCountMax = 8 << 20
  /// What only commits that make room may fill of a file that cannot grow.
  ///
  /// A checkpoint gives the other file, so this has to do for what comes until then.
  static let spareByteCount = 64 << 10

  init(
    files: [any StorageFile], storeID: StoreID, current: Int, generation: Generation,
    lastLSN: LSN, chain: UInt64, allocatedByteCounts: [Int]
  ) {
    self.files = files
    self.storeID = storeID
    position = Position(
      current: current, generation: generation, offset: WALHeader.commitsOffset, chain: chain,
      lastLSN: lastLSN, allocatedByteCounts: allocatedByteCounts)
    sync = Sync(durableLSN: lastLSN)
  }

  var isPoisoned: Bool { poison.load(ordering: .acquiring) }
  var durableLSN: LSN { syncLock.withLock { sync.durableLSN } }
  var lastLSN: LSN { appendLock.withLock { position.lastLSN } }
  /// Where the next commit will begin in the current file.
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

  /// Appends one commit; the one writer calls this.
  ///
  /// When it returns the commit is in the file, and safe if the process dies.
  ///
  /// - Throws: `diskFull` and `deviceLocked` before anything was written; `limitExceeded`;
  ///   `commitUnknown` when the write failed half-way, which poisons.
  /// - Parameters:
  ///   - commit: The frames behind room for the header; whatever happens, they have to be made anew.
  ///   - usesReserve: Whether the spare bytes may be filled if the file cannot grow.
  func append(
    _ commit: inout ByteBuffer, frameCount: Int, roots: Roots, isErasing: Bool, usesReserve: Bool
  ) throws(PageFileError) -> LSN {
    let durableLSN = Defect.durableTooEarly.isPlanted ? lastLSN : self.durableLSN
    let framesByteCount = commit.count - WALCommitHeader.byteCount
    guard framesByteCount <= WALCommitHeader.framesByteCountMax else {
      throw .limitExceeded(
        what: "bytes that one transaction adds to the log", value: framesByteCount,
        limit: WALCommitHeader.framesByteCountMax)
    }
    let byteCount = WALCommitHeader.paddedByteCount(framesByteCount: framesByteCount)
    try makeRoom(byteCount, usesReserve: usesReserve)
    appendLock.lock()
    defer { appendLock.unlock() }
    // A checkpoint that was asked for may have given the room back before this took the lock.
    while !Defect.roomAskedOnce.isPlanted,
      position.offset + byteCount > position.allocatedByteCounts[position.current]
    {
      appendLock.unlock()
      defer { appendLock.lock() }
      try makeRoom(byteCount, usesReserve: usesReserve)
    }
    if isPoisoned { throw .poisoned }
    let lsn = position.lastLSN.next
    // The next header has to be able to name the one after it.
    try Counter.check(lsn.next.rawValue, "LSN")
    let commitHeader = WALCommitHeader(
      frameCount: frameCount, lsn: lsn, durableLSN: durableLSN, generation: position.generation,
      framesByteCount: framesByteCount, roots: roots, isErasing: isErasing)
    let chain = commitHeader.complete(
      &commit, storeID: storeID, offset: position.offset, chain: position.chain, using: &header)
    do throws(PageFileError) {
      try write(commit, to: position.current, at: position.offset)
    } catch {
      // Nothing was written, see `StorageFile.write`.
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
  /// Whoever comes first syncs for all who have committed by then; the others wait.
  ///
  /// - Throws: `commitUnknown`. Nobody is poisoned if the sync was refused because the device is
  ///   locked: a later one makes the commit durable.
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

  /// Syncs one file; a failure poisons, unless a locked device has refused it.
  ///
  /// One at a time for each file: the system tells a failure to one caller only, and the next sync
  /// would succeed without the bytes that were lost.
  func syncFile(_ file: Int) throws(PageFileError) {
    fileLocks[file].lock()
    defer { fileLocks[file].unlock() }
    if isPoisoned { throw .poisoned }
    do throws(PageFileError) {
      try files[file].sync()
    } catch {
      if Defect.failedSyncForgiven.isPlanted { return }
      if !error.isRefusal && !Defect.failedSyncRepeated.isPlanted { setPoisoned() }
      throw error
    }
  }

  /// Leaves a witness of what is durable where the next commit will begin, unless that commit is
  /// there already: then the one after it will be the witness.
  ///
  /// Failing is no harm: the witness is not needed to recover.
  private func writeWatermark(_ durable: LSN) {
    guard position.lastLSN == durable,
      position.offset + WALHeader.sectorByteCount
        <= position.allocatedByteCounts[position.current]
    else { return }
    let watermark = WALWatermark(durableLSN: durable, generation: position.generation)
    try? write(
      watermark.encode(storeID: storeID, offset: position.offset), to: position.current,
      at: position.offset)
  }

  // MARK: The turn

  /// Begins the other file with a fresh generation; commits go there from now on.
  ///
  /// The caller holds off writers and knows that the other file's checkpoint was published durably.
  /// Answers which file has ended, with the chain value it ended with.
  /// - Parameter random: For the generation.
  func turn(
    random: UInt64
  ) throws(PageFileError) -> (ended: Int, lsn: LSN, chain: UInt64, next: Generation) {
    // Not `growLock`: the file that ends may be growing, which takes the time of a sync, while writers
    // wait for this.
    appendLock.lock()
    defer { appendLock.unlock() }
    let ended = position.current
    try Counter.check(position.generation.counter + 1, "WAL generation")
    let next = Generation(after: position.generation.counter, random: random)
    let header = WALHeader(
      storeID: storeID, isEmpty: false, generation: next, firstLSN: position.lastLSN.next,
      chain: position.chain)
    try write(header.encode(), to: 1 - ended, at: 0)
    position.current = 1 - ended
    position.generation = next
    position.offset = WALHeader.commitsOffset
    return (ended, position.lastLSN, position.chain, next)
  }

  /// The file that commits go to, where they end, and its generation.
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

  /// Syncs a file that no more commits go to, unless a sync has covered them all.
  func syncEnded(_ file: Int) throws(PageFileError) {
    guard let covered = appendLock.withLock({ position.unsyncedLSNs[file] }) else {
      if isPoisoned { throw .poisoned }
      return
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

  // MARK: Erasing

  /// Overwrites what a file holds behind its last commit, durably; the whole of a file that no commit
  /// counts in any more.
  ///
  /// For the current file the caller holds off writers.
  /// - Parameter settled: All commits up to this one are in the data file.
  func eraseLeftovers(_ file: Int, settled: LSN) throws(PageFileError) {
    growLock.lock()
    defer { growLock.unlock() }
    // Neither changes meanwhile, so that nobody has to wait while zeros are written: the file does not
    // turn or grow, and commits go to the other file or are held off.
    let (isCurrent, start, end) = appendLock.withLock {
      let isCurrent = file == position.current
      return (
        isCurrent, isCurrent ? position.offset : WALHeader.commitsOffset,
        position.allocatedByteCounts[file]
      )
    }
    try markSettled(file, upTo: settled)
    try writeZeros(files[file], from: start, to: end)
    appendLock.withLock {
      // The witness of what is durable lay behind the end.
      if isCurrent && position.unsyncedLSNs == [nil, nil] { writeWatermark(position.lastLSN) }
    }
    // Durable after this: the zeros.
    if !Defect.erasedLogUnsynced.isPlanted { try syncFile(file) }
  }

  /// Gives back what a file has grown by and no commit is in.
  /// - Parameters:
  ///   - settled: All commits up to this one are in the data file.
  ///   - isOver: Whether those are all commits, and none can follow.
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

  /// Returns when nobody syncs, and refuses what comes later: the files are about to be closed.
  func finish() {
    syncLock.lock()
    while sync.isRunning { syncLock.wait() }
    setPoisoned()
    syncLock.broadcast()
    syncLock.unlock()
  }

  /// Refuses all further writes.
  func setPoisoned() { poison.store(true, ordering: .releasing) }
}
