/// Recovery: finds the last commit from the meta slots and the two WAL files, and decides which
/// meta slot and which commits of the log count.
///
/// See docs/page-file-format.md, R-1 … R-13, and docs/design.md for the reason of each rule.
package struct WALRecovery {
  /// The state of one WAL file as found on opening.
  package struct File {
    let file: (any StorageFile)?
    let header: WALHeader?

    package init(file: (any StorageFile)?, header: WALHeader?) {
      self.file = file
      self.header = header
    }

    /// Returns the header if it belongs to this store and is in use.
    ///
    /// A plain header with zero as its state looks like a locked one of this store; it is damaged.
    func header(of storeID: StoreID) -> WALHeader? {
      let isAnyStore = Defect.otherStoreBelieved.isPlanted
      guard let header, header.storeID == storeID || isAnyStore, !header.isEmpty, !header.isLocked
      else { return nil }
      return header
    }

    func isForeign(to storeID: StoreID) -> Bool {
      if Defect.otherStoreBelieved.isPlanted { return false }
      return header.map { $0.storeID != storeID } ?? false
    }
  }

  let files: [File]
  let dataPath: String
  /// The keys of an encrypted store.
  let keys: StoreKeys?

  package init(files: [File], dataPath: String, keys: StoreKeys?) {
    self.files = files
    self.dataPath = dataPath
    self.keys = keys
  }

  // MARK: Meta slots

  /// Chooses the meta slot to use, and returns it with its index.
  package func chooseMeta(_ readings: [MetaSlot.Reading]) throws(PageFileError) -> (
    meta: MetaSlot, slot: Int
  ) {
    var valid: [(meta: MetaSlot, slot: Int)] = []
    for (slot, reading) in readings.enumerated() {
      switch reading {
      case .valid(let meta): valid.append((meta, slot))
      case .unsupported(let version, let features):
        throw .unsupportedFormat(version: version, features: features)
      case .foreign, .unreadable, .locked: break
      }
    }
    if valid.isEmpty {
      if readings.allSatisfy({ if case .foreign = $0 { true } else { false } }) {
        throw .notADatabase(path: dataPath)
      }
      throw .corruptMeta(reason: "neither slot is readable")
    }
    if valid.count == 2, valid[0].meta.writeNumber < valid[1].meta.writeNumber {
      valid.swapAt(0, 1)
    }
    if valid.count == 2 && valid[0].meta.storeID != valid[1].meta.storeID {
      throw .corruptMeta(reason: "the slots belong to different stores")
    }
    // The first write would overwrite a log that another store may still need.
    let isBesideForeignLog = files.contains { file in
      file.isForeign(to: valid[0].meta.storeID) && !(file.header?.isEmpty ?? true)
    }
    if Self.isCleanlyClosed(valid.map(\.meta)), !isBesideForeignLog { return valid[0] }
    for candidate in valid where counts(candidate.meta) { return candidate }
    throw missingLog(valid[0].meta)
  }

  /// Returns true if every readable slot is marked clean, with the same checkpoint LSN; only then
  /// does the mark count.
  static func isCleanlyClosed(_ readable: [MetaSlot]) -> Bool {
    if Defect.cleanOnOneWord.isPlanted { return readable[0].isClean }
    return readable.allSatisfy { $0.isClean && $0.checkpointLSN == readable[0].checkpointLSN }
  }

  /// Returns true if a meta slot counts.
  ///
  /// A slot written by a turn counts only if the WAL file that it names exists. A slot written by
  /// an opening is refused only if that file is missing and a later one exists. In both cases both
  /// files had their names before the slot was written.
  private func counts(_ meta: MetaSlot) -> Bool {
    let isMissing = files.contains { $0.file == nil || $0.isForeign(to: meta.storeID) }
    if isMissing && !Defect.missingLogBelieved.isPlanted { return false }
    let headers = files.compactMap { $0.header(of: meta.storeID) }
    if headers.contains(where: { $0.generation == meta.generation }) { return true }
    if meta.writer == .turn { return Defect.turnBelievedAlone.isPlanted }
    return Defect.openingBelievedAlways.isPlanted
      || !headers.contains { $0.generation.counter > meta.generation.counter }
  }

  private func missingLog(_ meta: MetaSlot) -> PageFileError {
    let generation = meta.generation
    if files.contains(where: { $0.isForeign(to: meta.storeID) }) {
      return .walMismatch(reason: "\(dataPath): its WAL file belongs to another store")
    }
    if files.contains(where: { $0.file != nil && $0.header?.isLocked ?? true }) {
      return .corruptWAL(
        lsn: meta.checkpointLSN, reason: "generation \(generation): no readable WAL header")
    }
    return .walMismatch(reason: "\(dataPath): no WAL file of generation \(generation)")
  }

  /// Returns the file that the meta slots of a cleanly closed store name, if it is settled: it
  /// begins where they end, or all its commits are in the data file.
  func settledLog(_ meta: MetaSlot) -> Int? {
    files.firstIndex { file in
      guard let header = file.header(of: meta.storeID) else { return false }
      let isEmpty = header.firstLSN == meta.checkpointLSN.next && header.chain == meta.chain
      return header.generation == meta.generation
        && (isEmpty || header.firstLSN <= meta.checkpointLSN)
    }
  }

  // MARK: Commits

  /// The end of the log.
  struct End {
    var lsn: LSN
    var chain: UInt64
    var roots: Roots
    /// True if one of the commits erases.
    var isErasing = false
    /// The file that contains the last commit, if any commit is above the checkpoint.
    var lastFile: Int?
    /// The generation of the file read last; nil if no file was read.
    var generation: Generation?
    /// The file of the next commit.
    var nextFile = 0
    /// The offset of the next commit.
    var nextOffset = WALHeader.commitsOffset
    /// The greatest counter in any meta slot or header.
    var generationCounter: UInt64
  }

  /// Applies a commit's frames to pages, and to the words, which are those of the commit before.
  typealias ApplyCommit = (
    _ file: Int, WALScan.Commit, _ roots: inout Roots
  ) throws(PageFileError) -> Void

  /// Calls `apply` for each commit above the checkpoint, in order, and returns the end of the log.
  /// - Throws: `corruptWAL` if commits that are known to have been durable are not reached.
  func replay(
    _ meta: MetaSlot, beside readable: [MetaSlot],
    apply: ApplyCommit
  ) throws(PageFileError) -> End {
    let headers = files.map { $0.header(of: meta.storeID) }
    var end = End(
      lsn: meta.checkpointLSN, chain: meta.chain, roots: meta.roots, lastFile: nil,
      generationCounter: (readable.map(\.generation.counter)
        + headers.compactMap { $0?.generation.counter }).max() ?? 0)
    var stop = WALScan.Stop.end
    if let first = headers.firstIndex(where: { $0?.generation == meta.generation }) {
      stop = try scan(first, headers[first], &end, apply) ?? .broken(reason: "log does not follow")
      let other = 1 - first
      if let header = headers[other], header.generation.counter > meta.generation.counter,
        let later = try scan(other, header, &end, apply)
      {
        stop = later
      }
    }
    // A clean close leaves an empty log. Then a search for witnesses proves nothing, unless a later
    // log shows that the data file is an older copy.
    let isLater = headers.contains {
      ($0?.generation.counter ?? 0) > meta.generation.counter
    }
    if !meta.isClean || end.lastFile != nil || isLater { try refuseDamage(meta, end, stop) }
    try refuseOlderDataFile(headers, end)
    return end
  }

  /// Throws if the data file is older than its log.
  ///
  /// A log whose commits were moved to the data file records the last one. A data file that ends
  /// before that commit is an older copy.
  private func refuseOlderDataFile(
    _ headers: [WALHeader?], _ end: End
  ) throws(PageFileError) {
    let settled = headers.compactMap { $0?.settledLSN }.max() ?? .zero
    if settled > end.lsn {
      throw .walMismatch(
        reason: "data file: ends with commit \(end.lsn) (its log settled commit \(settled))")
    }
  }

  /// Reads the commits of one file; returns nil if it does not begin exactly where the log ended so
  /// far.
  private func scan(
    _ index: Int, _ header: WALHeader?, _ end: inout End, _ apply: ApplyCommit
  ) throws(PageFileError) -> WALScan.Stop? {
    guard let header, let file = files[index].file else { return nil }
    let isNext = header.firstLSN == end.lsn.next && header.chain == end.chain
    guard isNext || Defect.logJoinedUnproven.isPlanted else { return nil }
    var scan = try WALScan(file, header, keys)
    end.generation = header.generation
    return try Self.apply(&scan, of: index, &end, apply)
  }

  /// Reads the commits of a scan up to its stop.
  static func apply(
    _ scan: inout WALScan, of index: Int, _ end: inout End, _ apply: ApplyCommit
  ) throws(PageFileError) -> WALScan.Stop {
    while true {
      let stop = try scan.next { (commit) throws(PageFileError) in
        // The commits of one log follow each other without a gap, so the words that a commit does
        // not name are those of the commit before, or of the meta slot.
        var roots = commit.header.roots
        if !Defect.wordsDropped.isPlanted { roots.words = end.roots.words }
        try apply(index, commit, &roots)
        end.roots = roots
        end.lastFile = index
        if commit.header.isErasing { end.isErasing = true }
      }
      end.lsn = scan.lsn
      end.chain = scan.chain
      end.nextFile = index
      end.nextOffset = scan.offset
      if let stop { return stop }
    }
  }

  /// Throws if the log is damaged; a torn tail, which may be dropped, passes.
  ///
  /// Damage is proven if a witness in either file names a durable LSN above the last commit
  /// reached.
  private func refuseDamage(
    _ meta: MetaSlot, _ end: End, _ stop: WALScan.Stop
  ) throws(PageFileError) {
    if Defect.damagePassedOver.isPlanted { return }
    for entry in files {
      guard let file = entry.file, !entry.isForeign(to: meta.storeID),
        !(entry.header?.isEmpty ?? false)
      else { continue }
      let header = entry.header(of: meta.storeID)
      if Self.isCut(header, byteCount: try file.byteCount(), meta) {
        throw .corruptWAL(lsn: end.lsn, reason: "WAL file in use: truncated")
      }
      let durable = try WALScan.greatestDurableLSN(
        in: file, header: header, storeID: meta.storeID, keys)
      if durable > end.lsn {
        let reason =
          if case .broken(let reason) = stop { reason } else { "the log ends before it" }
        throw .corruptWAL(
          lsn: end.lsn, reason: "commit \(durable): durable but not reached (\(reason))")
      }
    }
  }

  /// Returns true if a WAL file that a store in use needs has lost its end.
  ///
  /// The smallest length was durable before a turn named the file. With the end of the log the
  /// witnesses of its commits are gone.
  /// - Parameter header: The file's header; nil if it cannot be read.
  package static func isCut(_ header: WALHeader?, byteCount: Int, _ meta: MetaSlot) -> Bool {
    let isInUse = meta.writer == .turn && !meta.isClean
    let isNeeded = header?.generation.counter ?? .max >= meta.generation.counter
    return isInUse && isNeeded && byteCount < WALWriter.byteCountMin
  }
}
