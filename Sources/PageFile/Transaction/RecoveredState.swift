/// The state found at opening: the newest meta slot and the changes that the log adds to it.
struct RecoveredState {
  var meta: MetaSlot
  /// The write number of each meta slot; 0 for a slot that cannot be read.
  var writeNumbers: [UInt64]
  /// The tables that readable meta slots refer to: the newest one, then the other slot's.
  var tables: [PageTableRoot]
  let maps: RecoveredMaps
  var end: WALRecovery.End
  /// The state of the files at reading, to detect later writes.
  var fingerprint: Fingerprint

  struct Fingerprint: Equatable {
    var metaSlots: [[UInt8]]
    var walHeaders: [[UInt8]]
  }

  /// True if every readable meta slot says that the store was closed cleanly, and the log holds
  /// nothing newer.
  var isClean: Bool
  /// The WAL file named by the meta slots of a cleanly closed store, if it exists.
  ///
  /// Nothing in it counts any more.
  var settledLog: Int?

  /// True if erased bytes may still lie in free slots and in the log.
  var isErasurePending: Bool { meta.isErasurePending || end.isErasing }

  /// Returns the snapshot of the last commit.
  ///
  /// Takes over the maps, so it can be called only once.
  func snapshot(_ registry: SnapshotRegistry, tableVersion: UInt64 = 1) -> Snapshot {
    Snapshot(
      lsn: end.lsn, roots: end.roots, table: meta.table, tableVersion: tableVersion,
      maps: maps.take(),
      newest: end.lastFile ?? settledLog.map { 1 - $0 } ?? 0, registry: registry)
  }
}

/// The page maps made by a recovery, until a snapshot takes them over.
///
/// If the opening fails in between, they are freed with this object.
final class RecoveredMaps: @unchecked Sendable {
  // Unchecked: the maps are only taken by the opening thread, or by a refresh under a lock.
  private var maps: (PageMap, PageMap)?

  init(_ maps: (PageMap, PageMap)) { self.maps = maps }

  deinit {
    maps?.0.free()
    maps?.1.free()
  }

  func take() -> (PageMap, PageMap) {
    guard let maps else { preconditionFailure("recovered maps: taken twice") }
    self.maps = nil
    return maps
  }
}

/// Reads a store's files without changing them.
struct StoreReader {
  let dataFile: any StorageFile
  var walFiles: [(any StorageFile)?]
  let cacheByteCount: Int
  /// The app's key, if it has given one.
  let appKey: (any PageCipher)?

  /// Recovers the state after the last commit that counts.
  ///
  /// Also returns the pager to read it with, which is `pager` if that is given, for a store that
  /// was read before.
  /// - Parameter found: The meta slots and headers to go by.
  func recover(
    _ pager: Pager?, _ found: RecoveredState.Fingerprint
  ) throws(PageFileError) -> (Pager, RecoveredState) {
    let slots = found.metaSlots
    let headers = zip(walFiles, found.walHeaders).map { file, bytes in file.map { _ in bytes } }
    let keys =
      if let pager { pager.keys } else { try unlock(slots, beside: headers.compactMap(\.self)) }
    let recovery = WALRecovery(
      files: zip(walFiles, headers).map { file, bytes in
        WALRecovery.File(file: file, header: bytes.flatMap { readHeader($0, keys) })
      }, dataPath: dataFile.path, keys: keys)
    let readings = slots.enumerated().map { index, bytes in readMeta(bytes, index, keys) }
    let (meta, _) = try recovery.chooseMeta(readings)
    let readable = readings.compactMap { if case .valid(let meta) = $0 { meta } else { nil } }
    let pager =
      pager
      ?? Pager(
        dataFile: dataFile, storeID: meta.storeID, pageByteCount: meta.pageByteCount,
        keys: keys, cacheByteCount: cacheByteCount)
    try checkTableRoot(meta, pager)
    var replay = LogReplay(pager: pager, meta)
    let end = try recovery.replay(meta, beside: readable) {
      (file, commit, roots) throws(PageFileError) in
      try replay.apply(commit, file: file, to: &roots)
    }
    try replay.validate()
    let isClean = end.lastFile == nil && WALRecovery.isCleanlyClosed(readable)
    let state = RecoveredState(
      meta: meta,
      writeNumbers: readings.map { if case .valid(let meta) = $0 { meta.writeNumber } else { 0 } },
      tables: [meta.table] + readable.map(\.table).filter { $0 != meta.table },
      maps: RecoveredMaps(replay.takeMaps().maps), end: end,
      fingerprint: found, isClean: isClean,
      settledLog: isClean ? recovery.settledLog(meta) : nil)
    return (pager, state)
  }

  private func readMeta(_ bytes: [UInt8], _ index: Int, _ keys: StoreKeys?) -> MetaSlot.Reading {
    Bytes.with(bytes) { MetaSlot.read($0, index: index, keys) }
  }

  private func readHeader(_ bytes: [UInt8], _ keys: StoreKeys?) -> WALHeader? {
    Bytes.with(bytes) { WALHeader.read($0, keys) }
  }

  private func readMetaSlot(_ index: Int) throws(PageFileError) -> [UInt8] {
    try read(dataFile, at: MetaSlot.offset(of: index), byteCount: MetaSlot.byteCount)
  }

  private func read(
    _ file: any StorageFile, at offset: Int, byteCount: Int
  ) throws(PageFileError) -> [UInt8] {
    var buffer = ByteBuffer(capacity: byteCount)
    buffer.append(zeros: byteCount)
    let count = try file.read(into: buffer.mutableBytes, at: offset)
    return buffer.bytes.slice(0, count).array()
  }

  /// Verifies the table's root page with all 64 bits of its checksum; table entries carry only 32.
  private func checkTableRoot(_ meta: MetaSlot, _ pager: Pager) throws(PageFileError) {
    guard meta.table.height > 0 else { return }
    let bracket = Bracket(pager.cache)
    bracket.enter()
    defer { bracket.leave() }
    let image = try pager.image(
      of: meta.table.entry, number: 0, level: meta.table.height - 1, bracket)
    // A sealed page has its stamp in the checksum's place, and its seal has proven both.
    let checksum =
      pager.keys == nil
      ? pager.checksum(of: image.bytes) : image.bytes.uint64(at: PageHeader.checksumOffset)
    let isProven = checksum == meta.table.checksum
    guard isProven || Defect.tableRootUnproven.isPlanted else {
      throw .corruptMeta(reason: "page table root: checksum does not match the meta slot")
    }
  }

  /// Returns the current bytes of the meta slots and WAL headers.
  func fingerprint() throws(PageFileError) -> RecoveredState.Fingerprint {
    var headers: [[UInt8]] = []
    for file in walFiles {
      headers.append(
        try file.map { (file) throws(PageFileError) in
          try read(file, at: 0, byteCount: WALHeader.byteCount)
        } ?? [])
    }
    return .init(metaSlots: try [readMetaSlot(0), readMetaSlot(1)], walHeaders: headers)
  }

  /// Returns true if a commit has been appended where the log ended.
  func hasCommit(
    after state: RecoveredState, _ keys: StoreKeys?
  ) throws(PageFileError) -> Bool {
    guard let file = walFiles[state.end.nextFile] else { return false }
    let offset = state.end.nextOffset
    let bytes = try read(file, at: offset, byteCount: WALHeader.sectorByteCount)
    let form = LogForm(state.meta.storeID, keys)
    let header = Bytes.with(bytes) { form.commitHeader($0, at: offset) }
    return header?.lsn == state.end.lsn.next
  }

  // MARK: Beside the owner

  /// Calls `apply` for each commit that the owner has appended to the log since, and returns where
  /// they end.
  ///
  /// Reads only the log in which the recovery ended, and returns nil if that log is gone. The
  /// result counts only if the fingerprint is the same afterwards.
  func commits(
    after state: RecoveredState, _ keys: StoreKeys?, apply: WALRecovery.ApplyCommit
  ) throws(PageFileError) -> WALRecovery.End? {
    var end = state.end
    guard let file = walFiles[end.nextFile],
      let header = readHeader(state.fingerprint.walHeaders[end.nextFile], keys),
      header.generation == end.generation, header.storeID == state.meta.storeID, !header.isEmpty
    else { return nil }
    var scan = try WALScan(
      file, header, keys, after: end.lsn, chain: end.chain, at: end.nextOffset)
    _ = try WALRecovery.apply(&scan, of: end.nextFile, &end, apply)
    return end
  }

  /// The number of attempts a reader makes when the owner writes while it is reading.
  private static let maximumAttemptCount = 16

  /// Recovers a store that its owner may be writing to.
  ///
  /// See docs/page-file-format.md, R-13.
  ///
  /// - Parameter reopenWALFiles: Returns the WAL files, opening those that the owner has created
  ///   since.
  mutating func recoverBesideOwner(
    _ pager: Pager?, _ reopenWALFiles: () throws(PageFileError) -> [(any StorageFile)?]
  ) throws(PageFileError) -> (Pager, RecoveredState) {
    var lastFailure: PageFileError?
    for _ in 0..<Self.maximumAttemptCount {
      walFiles = try reopenWALFiles()
      let before = try fingerprint()
      pager?.follow(before.metaSlots)
      var failure: PageFileError?
      do throws(PageFileError) {
        let (pager, state) = try recover(pager, before)
        if stillHolds(state, pager.keys, try fingerprint()) {
          pager.follow(before.metaSlots)
          return (pager, state)
        }
      } catch {
        failure = error
      }
      // Damage is only believed if it looks the same twice. While the log was searched for
      // witnesses, the owner may have made commits durable that the scan before did not reach.
      if failure == nil { continue }
      let after = try fingerprint()
      if let failure, after == before, failure == lastFailure { throw failure }
      lastFailure = after == before ? failure : nil
    }
    throw .busy(path: dataFile.path)
  }

  /// Returns true if what was read is a state of the store, although its owner may have gone on.
  ///
  /// What the chosen meta slot refers to, table and log, is neither overwritten nor begun anew
  /// before that slot is written. So neither a turn nor the publication in the other slot matters.
  private func stillHolds(
    _ state: RecoveredState, _ keys: StoreKeys?, _ after: RecoveredState.Fingerprint
  ) -> Bool {
    let before = state.fingerprint
    for index in 0..<2 {
      if case .valid(let meta) = readMeta(before.metaSlots[index], index, keys),
        meta.writeNumber == state.meta.writeNumber,
        before.metaSlots[index] != after.metaSlots[index]
      {
        return false
      }
    }
    return true
  }
}
