import PageFile

/// The log's commits, applied as far as their chain and the pages that they change allow.
///
/// Unlike recovery, it does not stop at the first fault. A page whose previous version is lost
/// stays lost until a commit makes it anew, and all other pages continue. A commit counts only if
/// the chain reaches it; commits behind a break are listed.
struct SalvagedLog {
  /// The result of the log for a page.
  enum Outcome {
    /// `guess` is the LSN of the version that the page was made from, if that version was a guess.
    case page(SalvagedPage, guess: LSN?)
    case freed
    case lost(reason: String)
  }

  private let files: DamagedFiles
  private let storeID: StoreID
  private let keys: StoreKeys?
  private let form: LogForm
  private let contentByteCount: Int
  /// The pages as the slots have them.
  private let slots: SalvagedPages
  private(set) var outcomes: [UInt32: Outcome] = [:]
  private(set) var state: SalvagedState?
  private(set) var lsn = LSN.zero
  private var chain: UInt64 = 0
  /// The names of the files whose commits were read.
  private var applied: Set<String> = []
  private var breakReason = "the log ends before them"
  private(set) var findings: [String] = []
  private(set) var lostCommits: [LostCommit] = []
  /// The pages made by the log are kept in memory, which a damaged log must not exhaust.
  private static let maximumImageByteCount = 512 << 20

  init(_ files: DamagedFiles, _ identity: StoreIdentity, over slots: SalvagedPages) {
    self.files = files
    storeID = identity.storeID
    keys = identity.keys
    form = LogForm(identity.storeID, identity.keys)
    contentByteCount = identity.contentByteCount
    self.slots = slots
  }

  // MARK: Which commits

  /// Applies the commits that follow a meta slot.
  mutating func follow(_ meta: MetaSlot) {
    (lsn, chain, state) = (meta.checkpointLSN, meta.chain, SalvagedState(meta))
    if apply({ $0 == meta.generation }) {
      _ = apply { $0.counter > meta.generation.counter }
    } else if !meta.isClean && meta.writer == .turn {
      findings.append("log after commit \(lsn): missing or unreadable")
    }
    // A clean close leaves no commit in the log, and nothing for a search to prove. An opening has
    // moved all of the log, and no commit comes before the first turn.
    if lsn > meta.checkpointLSN || !meta.isClean && meta.writer == .turn {
      findWhatIsLost(after: meta)
    }
    validate()
  }

  /// Applies the available commits when no meta slot says where the log begins.
  ///
  /// Starts with the older file if the newer one continues it, and otherwise with the newer one.
  ///
  /// The log may end before the newest version in a slot: a close cuts the files, and their last
  /// commits with them, once all of them are in the slots.
  mutating func followHeaders() {
    let headers = files.wals.compactMap { wal in
      wal.header.flatMap { $0.storeID == storeID && !$0.isEmpty ? $0 : nil }
    }.sorted { $0.generation.counter < $1.generation.counter }
    guard let last = headers.last else {
      findings.append("neither a meta slot nor a WAL header tells where the log begins")
      lsn = slots.newestLSN
      return findWhatIsLost()
    }
    var start = last
    if let first = headers.first, headers.count == 2,
      let (endLSN, endChain) = end(of: first), last.firstLSN == endLSN.next,
      last.chain == endChain
    {
      start = first
    }
    (lsn, chain) = (LSN(start.firstLSN.rawValue - 1), start.chain)
    _ = apply { $0 == start.generation }
    _ = apply { $0.counter > start.generation.counter }
    findWhatIsLost()
    validate()
  }

  /// Returns the LSN and the chain value at which the commits of a file end.
  private func end(of header: WALHeader) -> (LSN, UInt64)? {
    guard let file = files.wals.first(where: { $0.header == header })?.file,
      var scan = try? WALScan(file, header, keys)
    else { return nil }
    do throws(PageFileError) {
      while try scan.next({ _ in }) == nil {}
    } catch {
      // An unreadable part ends the log as well.
    }
    return (scan.lsn, scan.chain)
  }

  /// Applies the commits of the file that continues the log and has an admitted generation.
  ///
  /// Returns false if no file does.
  private mutating func apply(_ admits: (Generation) -> Bool) -> Bool {
    for wal in files.wals {
      guard let file = wal.file, let header = continuation(wal), admits(header.generation),
        var scan = try? WALScan(file, header, keys)
      else { continue }
      var isAtEnd = false
      while !isAtEnd {
        var commit: (header: WALCommitHeader, frames: [UInt8])?
        do throws(PageFileError) {
          let stop = try scan.next { (found) throws(PageFileError) in
            commit = (found.header, found.frames.array())
          }
          if case .broken(let reason)? = stop { breakReason = reason }
          isAtEnd = stop != nil
        } catch {
          breakReason = "\(error)"
          isAtEnd = true
        }
        guard let commit else { continue }
        guard let next = apply(commit.header, commit.frames) else {
          findings.append("\(wal.name): the frames of commit \(commit.header.lsn) cannot be read")
          break
        }
        (lsn, chain, state) = (scan.lsn, scan.chain, next)
      }
      applied.insert(wal.name)
      return true
    }
    return false
  }

  /// Returns the header of a file whose first commit is the next one; nil for other files.
  ///
  /// If the header cannot be read, the first commit stands in for it: its chain value proves that
  /// it follows.
  @inline(never)
  private func continuation(_ wal: DamagedFiles.WAL) -> WALHeader? {
    if let header = wal.header {
      let isNext =
        header.storeID == storeID && !header.isEmpty && header.firstLSN == lsn.next
        && header.chain == chain
      return isNext ? header : nil
    }
    guard let file = wal.file else { return nil }
    let bytes = DamagedFiles.read(
      file, at: WALHeader.commitsOffset, byteCount: WALHeader.sectorByteCount)
    let commit = Bytes.with(bytes) { form.commitHeader($0, at: WALHeader.commitsOffset) }
    guard let commit, commit.lsn == lsn.next else { return nil }
    return WALHeader(
      storeID: storeID, isEmpty: false, generation: commit.generation, firstLSN: lsn.next,
      chain: chain)
  }

  // MARK: Frames

  /// Applies the frames of a commit and returns the state after it, or nil if they cannot be read.
  private mutating func apply(_ commit: WALCommitHeader, _ frames: [UInt8]) -> SalvagedState? {
    var next = SalvagedState(commit, after: state)
    var hasWords = false
    return Bytes.with(frames) { frames in
      var reader = ByteReader(frames)
      for _ in 0..<commit.frameCount {
        guard outcomes.count * contentByteCount < Self.maximumImageByteCount,
          let frame = PagePatch.nextFrame(&reader)
        else { return nil }
        guard frame.kind == .words else {
          apply(frame, commit.lsn)
          continue
        }
        guard !hasWords, next.apply(frame) else { return nil }
        hasWords = true
      }
      return next
    }
  }

  /// Applies a frame, unless the slots have a version of the page with this commit or a later one.
  private mutating func apply(_ frame: PagePatch.Frame, _ lsn: LSN) {
    let number = frame.number.rawValue
    if outcomes[number] == nil, let entry = slots.entry(frame.number), entry.page.lsn >= lsn {
      return
    }
    outcomes[number] = outcome(of: frame, lsn)
  }

  private func outcome(of frame: PagePatch.Frame, _ lsn: LSN) -> Outcome {
    let page: SalvagedPage
    var guess: LSN?
    switch (frame.kind, outcomes[frame.number.rawValue]) {
    case (.freed, _):
      return .freed
    case (.words, _):
      preconditionFailure("frame of words: changes no page")
    case (.fresh, _):
      page = SalvagedPage(pageByteCount: contentByteCount)
    case (.patch, .page(let own, let ownGuess)?):
      (page, guess) = (own, ownGuess)
    case (.patch, .freed?):
      return .lost(reason: "patched after it was freed")
    case (.patch, .lost(let reason)?):
      return .lost(reason: reason)
    case (.patch, nil):
      guard let entry = slots.entry(frame.number), let older = slots.page(frame.number) else {
        return .lost(reason: "the version that commit \(lsn) in the log patches is lost")
      }
      page = SalvagedPage(copying: older)
      if !entry.isCertain { guess = older.lsn }
    }
    guard PagePatch.apply(frame, to: page.mutableBytes) else {
      return .lost(reason: "patch out of bounds in commit \(lsn)")
    }
    page.mutableBytes.store(lsn.rawValue, at: PageHeader.lsnOffset)
    return .page(page, guess: guess)
  }

  /// Validates pages by the gate for pages from slots, which a patch of the wrong version hardly
  /// ever passes.
  private mutating func validate() {
    for (number, outcome) in outcomes {
      guard case .page(let page, _) = outcome else { continue }
      let kind = PageKind(rawValue: page.bytes[PageHeader.kindOffset])
      let isPage =
        page.bytes.uint32(at: PageHeader.numberOffset) == number
        && kind.map { $0 != .table && Pager.contentRuleBroken(page.bytes, $0) == nil } ?? false
      if !isPage {
        outcomes[number] = .lost(reason: "invalid page after applying the log")
      }
    }
  }

  // MARK: What is behind the break

  /// Lists the commits above the last one that counts, wherever a commit header can be proven, and
  /// reports files that may have held unknown ones.
  /// - Parameter meta: The meta slot that the log follows, if one is readable.
  private mutating func findWhatIsLost(after meta: MetaSlot? = nil) {
    var durable = LSN.zero
    for wal in files.wals {
      guard let file = wal.file else {
        findings.append("\(wal.name) is missing; it may have held commits after \(lsn)")
        continue
      }
      if let header = wal.header, header.storeID != storeID {
        findings.append("\(wal.name) belongs to another store")
        continue
      }
      if wal.header == nil && !applied.contains(wal.name) {
        findings.append("\(wal.name): header cannot be read")
      }
      if meta.map({ WALRecovery.isCut(wal.header, byteCount: wal.byteCount, $0) }) ?? false {
        findings.append("\(wal.name): cut short; commits after \(lsn) may be missing")
      }
      if wal.header?.isEmpty ?? false { continue }
      durable = max(durable, listLostCommits(of: wal, file))
    }
    lostCommits.sort { $0.lsn < $1.lsn }
    for index in lostCommits.indices {
      lostCommits[index].wasDurable = lostCommits[index].lsn <= durable
    }
    if durable > lsn {
      findings.append(
        "commits \(lsn.next) to \(durable) were durable but cannot be applied: "
          + breakReason)
    }
  }

  /// Lists the lost commits of a file, and returns the greatest LSN that the file says was durable.
  private mutating func listLostCommits(
    of wal: DamagedFiles.WAL, _ file: any StorageFile
  ) -> LSN {
    var durable = LSN.zero
    let sector = WALHeader.sectorByteCount
    for offset in stride(from: WALHeader.commitsOffset, to: wal.byteCount, by: sector) {
      let bytes = DamagedFiles.read(file, at: offset, byteCount: sector)
      let (commit, watermark) = Bytes.with(bytes) { bytes in
        (form.commitHeader(bytes, at: offset), form.watermark(bytes, at: offset))
      }
      let generation = commit?.generation ?? watermark?.generation
      guard let generation, wal.header == nil || wal.header?.generation == generation else {
        continue
      }
      durable = max(durable, commit?.durableLSN ?? watermark?.durableLSN ?? .zero)
      guard let commit, commit.lsn > lsn else { continue }
      lostCommits.append(
        LostCommit(
          lsn: commit.lsn, file: wal.name, offset: offset, frameCount: commit.frameCount,
          wasDurable: false))
    }
    return durable
  }
}
