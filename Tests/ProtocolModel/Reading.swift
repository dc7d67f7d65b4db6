/// What an opening finds in the files: rules of docs/page-file-format.md.
struct Reading {
  /// The meta slot to go by.
  var meta = Meta.unreadable
  /// The history up to the last commit.
  var commits: Commits = 0
  var isClean = false
  /// The file that the last commit is in, and the place behind it.
  var lastFile: Int?
  var place: UInt8 = 0
  /// The greatest counter in sight.
  var counter: UInt8 = 0
}

/// Why an opening refuses a store.
enum Refusal: String, Error {
  case corruptMeta
  case walMismatch
  case corruptWAL
  case corruptPage
}

extension Reading {
  /// Reads the files as they are in the system's memory.
  init(_ state: State, _ defect: ProtocolDefect?) throws(Refusal) {
    meta = try Self.chosenMeta(state, defect)
    commits = meta.commits
    counter = Self.greatestCounter(state)
    let first = (0..<2).first { file in
      Header.isInUse(state.headers[file].cached)
        && state.isSame(state.headers[file].cached, meta.life, defect)
    }
    if let first {
      scan(first, state, defect)
      let later = state.headers[1 - first].cached
      if Header.isInUse(later),
        state.lives[Int(later)].counter > state.lives[Int(meta.life)].counter
      {
        scan(1 - first, state, defect)
      }
    }
    if !(meta.isClean && lastFile == nil) { try refuseDamage(state, first, defect) }
    try checkPages(state)
    isClean = lastFile == nil && Self.isCleanlyClosed(state, defect)
  }

  // MARK: Meta slots

  private static func chosenMeta(
    _ state: State, _ defect: ProtocolDefect?
  ) throws(Refusal) -> Meta {
    let (one, other) = (state.cachedMeta(0), state.cachedMeta(1))
    let (newer, older) = one.number > other.number ? (one, other) : (other, one)
    guard newer.isReadable else { throw .corruptMeta }
    if isCleanlyClosed(state, defect) || counts(newer, state, defect) { return newer }
    if older.isReadable && counts(older, state, defect) { return older }
    throw .walMismatch
  }

  ///
  private static func isCleanlyClosed(_ state: State, _ defect: ProtocolDefect?) -> Bool {
    let (one, other) = (state.cachedMeta(0), state.cachedMeta(1))
    if defect == .cleanMarkOfOneSlotBelieved {
      return one.number > other.number ? one.isClean : other.isClean
    }
    guard one.isReadable, other.isReadable else { return one.isClean || other.isClean }
    return one.isClean && other.isClean && lsn(one.commits) == lsn(other.commits)
  }

  ///
  private static func counts(_ meta: Meta, _ state: State, _ defect: ProtocolDefect?) -> Bool {
    guard state.names[0].cached == 1, state.names[1].cached == 1 else { return false }
    if defect == .metaCountsWithoutItsLog { return true }
    var isLater = false
    for file in 0..<2 {
      let header = state.headers[file].cached
      guard Header.isInUse(header) else { continue }
      if state.isSame(header, meta.life, defect) { return true }
      if state.lives[Int(header)].counter > state.lives[Int(meta.life)].counter { isLater = true }
    }
    return !meta.isByTurn && !isLater
  }

  private static func greatestCounter(_ state: State) -> UInt8 {
    var greatest: UInt8 = 0
    for index in 0..<2 {
      let meta = state.cachedMeta(index)
      if meta.isReadable { greatest = max(greatest, state.lives[Int(meta.life)].counter) }
      let header = state.headers[index].cached
      if Header.isInUse(header) { greatest = max(greatest, state.lives[Int(header)].counter) }
    }
    return greatest
  }

  // MARK: The log

  /// goes on with the commits of a file that begins where the log ended so far.
  private mutating func scan(_ file: Int, _ state: State, _ defect: ProtocolDefect?) {
    let header = state.headers[file].cached
    guard defect == .chainIgnored || state.lives[Int(header)].before == commits else { return }
    for index in 0..<State.placeCount {
      let entry = Entry(bits: state.log[State.place(file, index)].cached)
      guard entry.isCommit, !entry.isTorn else { return }
      let facts = state.commits[entry.number]
      guard
        defect == .generationOfCommitsIgnored || state.isSame(facts.life, header, defect)
      else { return }
      guard defect == .chainIgnored || facts.before == commits else { return }
      commits |= 1 << UInt8(entry.number - 1)
      lastFile = file
      place = UInt8(index) + 1
    }
  }

  /// a witness that names an LSN above the last one reached proves damage.
  private func refuseDamage(
    _ state: State, _ first: Int?, _ defect: ProtocolDefect?
  ) throws(Refusal) {
    if defect == .witnessesIgnored { return }
    let isPassed = defect == .verdictBelowCheckpoint && lastFile == nil
    let reached = isPassed ? 0 : lsn(commits)
    for file in 0..<2 where state.headers[file].cached != Header.empty {
      if defect == .witnessesInFirstFileOnly && file != first { continue }
      if Self.greatestWitness(state, file, defect) > reached { throw .corruptWAL }
    }
  }

  static func greatestWitness(
    _ state: State, _ file: Int, _ defect: ProtocolDefect?
  ) -> UInt8 {
    let header = state.headers[file].cached
    var greatest: UInt8 = 0
    for index in 0..<State.placeCount {
      let entry = Entry(bits: state.log[State.place(file, index)].cached)
      let life = entry.isWatermark ? entry.watermarkLife : state.commits[entry.number].life
      guard entry.bits != 0, header == 0 || state.isSame(life, header, defect) else { continue }
      greatest = max(
        greatest, entry.isWatermark ? entry.watermarkLSN : state.commits[entry.number].durableLSN)
    }
    return greatest
  }

  // MARK: Pages

  /// P-6, for every page: each slot has what the table says, and patches find the base they need.
  private func checkPages(_ state: State) throws(Refusal) {
    for page in 0..<pageCount {
      let content = PageContent.of(page, meta.content(page))
      if state.slots[Int(meta.slot(page))].cached != content { throw .corruptPage }
    }
  }

  /// Whether the pages, with the log applied to them, are those of the history.
  var isWhole: Bool {
    let logged = commits & ~meta.commits
    return (0..<pageCount).allSatisfy { page in
      meta.content(page) | logged & touching(page) == commits & touching(page)
    }
  }
}
