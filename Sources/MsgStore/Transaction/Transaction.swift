package import PageFile

/// A write transaction: the trees, and what the writer keeps beside them, such as open summaries
/// and numbers.
///
/// Summaries are kept here until the commit, or until conversations are read, so that five hundred
/// messages for one conversation write its summary once. They are kept beyond the commit, too, so
/// that the next transaction need not read them.
///
///  1. A storage fault or a corrupt record may have left a change half done. From then on every
///     change and `finish` throw that error again, and nothing is committed.
///  2. Any other refusal happens before anything changes.
package final class Transaction {
  package let view: StoreView
  /// The clock that provides times for changes that come without one.
  package let clock: @Sendable () -> Timestamp
  /// The number of the local member, whose unread messages are counted.
  var localMember: UInt32? {
    get { view.localMember }
    set { view.localMember = newValue }
  }
  /// The limits and options of the store.
  let rules: StoreRules
  /// The caches that the previous writer left and that this one hands on.
  let memory: WriterMemory
  /// True if the transaction made the store larger.
  ///
  /// A transaction that did not, such as a deletion, may use the space reserved for a full device.
  var hasAdded = false
  /// The archived conversations that a new message brings back to the list, some more than once.
  ///
  /// An array, since a set is dearer to ask for being empty, as each operation does.
  var leavingArchive: [UInt32] = []
  /// The running transfers, as other transactions see them.
  let running: RunningTransfers
  /// The transfers that this transaction began, with their bytes done, or ended, with nil.
  var transferChanges: [RunningTransfers.Key: Int64?] = [:]
  /// The transfer progress that this transaction has stored.
  var savedProgress: [RunningTransfers.Key: Int64] = [:]
  /// True if the transaction hands out work, which may leave the device only once it is durable.
  var isDurabilityWanted = false
  /// The number of the first lease that the transaction gave, if it gave one.
  var firstLease: UInt64?
  /// The changes of the store's totals that follow from what is written.
  var totals = TotalsChange()
  /// Reads the newest committed dictionary, or `CompressionDictionary.none`.
  let newestDictionary: () -> CompressionDictionary
  /// True if changes are noted, because the store has listeners.
  package let hasListeners: Bool
  var notes = ChangeNotes()
  private(set) var failure: StoreError?
  /// The effects that the outbox has not answered yet, see `Effect`.
  private(set) var effects: [Effect] = []
  /// True while there are effects; tested after each operation, and cheaper to test than the array.
  private(set) var hasEffects = false
  /// True once a reader was handed out; then every operation ends by writing its changes to the
  /// trees.
  var isReadThrough = false
  /// The view that hides what has expired, for reads by callers; nil until something has.
  private(set) var shownView: StoreView?
  /// The time by which messages expire for this transaction, in microseconds, read once.
  ///
  /// The steps of this commit, its demand for further steps, and the wait for the next expiry use
  /// one look at the clock, so no expiry falls between two looks.
  private(set) lazy var expiryTime = clock().microseconds
  /// The latest server time that the transaction was told; nil if it was told none.
  var heardTime: Int64?
  /// True if the transaction has erased messages because they have expired.
  var hasErasedExpired = false
  /// True if the transaction has made a step of work.
  var hasStepped = false
  /// True if a step has got ahead among expired messages that it may not erase yet.
  var hasPassedOver = false
  /// The deadline of the current step of work; nil outside of one.
  var stepEnd: ContinuousClock.Instant?

  @inline(never)
  init(
    _ view: StoreView, memory: WriterMemory = WriterMemory(), localMember: UInt32?,
    rules: StoreRules = StoreRules(), running: RunningTransfers = RunningTransfers(),
    hasListeners: Bool = false,
    newestDictionary: @escaping () -> CompressionDictionary = { CompressionDictionary.none },
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.newestDictionary = newestDictionary
    self.rules = rules
    self.running = running
    self.hasListeners = hasListeners
    self.view = view
    self.memory = memory
    self.view.localMember = localMember
    self.clock = clock
  }

  /// Stops sharing dictionaries: those read from now on are not kept for other transactions, and
  /// encoders that use the previously newest dictionary are not handed to the next writer.
  func stopKeepingDictionaries() {
    view.keepsDictionaries = false
    memory.packsWithOldDictionary = true
  }

  /// Ends all that was handed out: from now on its calls throw.
  func end() {
    view.isOver = true
    shownView?.isOver = true
  }

  /// Runs one change under rule 1.
  func change<R: ~Copyable>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    if let failure { throw failure }
    do throws(StoreError) {
      return try view.within(body)
    } catch {
      fail(error)
      throw error
    }
  }

  /// Keeps an error after which nothing can be committed.
  @inline(never)
  func fail(_ error: StoreError) {
    switch error {
    case .storage, .corruptRecord, .numbersExhausted: failure = error
    default: break
    }
  }

  /// Returns the view through which callers read, which passes over expired messages and mutes.
  ///
  /// The transaction itself sees all of them.
  func shown() throws(StoreError) -> StoreView {
    if view.expiry.isUnused { return view }
    let hiding = try view.expiry.hiding(at: expiryTime)
    if hiding == Hiding(), shownView == nil { return view }
    let shown = shownView ?? view.copy()
    shown.hiding = hiding
    shownView = shown
    return shown
  }

  /// Returns the clock's time for a record: the nearest plausible one.
  ///
  /// A clock that is far off stops nobody, and what it has dated is taken by a server, and by a
  /// restore of an export. Waits and leases are compared with the clock itself, which goes on.
  package func recordedTime() -> Int64 { clock().nearestPlausible.microseconds }

  /// Notes a time that the server has told.
  @inline(__always)
  func noteHeard(_ time: Int64) {
    if heardTime.map({ time > $0 }) ?? true { heardTime = time }
  }

  /// Returns the view for reading messages and receipts, after writing those that are not written.
  @inline(never)
  func flushed() throws(StoreError) -> StoreView {
    try memory.unwritten.flush(to: view.source)
    try summaries.flushReceipts()
    return view
  }

  @inline(never)
  package func insert(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) throws(StoreError) {
    assert(Schema.canRead(key, value, in: tree), "\(Schema.name(of: tree)): malformed cell")
    try insert(stored: key, value, in: tree)
  }

  /// Inserts an entry that has a key only.
  @inline(never)
  func insert(_ key: borrowing ByteBuffer, in tree: TreeNumber) throws(StoreError) {
    try insert(key.bytes, .empty, in: tree)
  }

  /// Stores a record in its table.
  @inline(never)
  package func put<Record: StoredRecord & Equatable>(
    _ record: Record, at key: borrowing ByteBuffer
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: 128)
    record.appendChecked(to: &value)
    try insert(key.bytes, value.bytes, in: Record.table.tree)
  }

  @inline(never)
  func remove(_ key: borrowing ByteBuffer, in tree: TreeNumber) throws(StoreError) {
    try remove(key.bytes, in: tree)
  }

  /// Gives an entry that has a key only another key.
  private func rekey(_ old: Bytes, to new: Bytes, in tree: TreeNumber) throws(StoreError) {
    if hasListeners {
      noteChange(of: old, in: tree)
      noteChange(of: new, in: tree)
    }
    let wasThere = try storage { () throws(PageFileError) in
      try BTree(view.source, tree).rekey(old, to: new, .empty)
    }
    guard wasThere else { throw view.corrupt(tree, "missing entry") }
  }

  /// Makes the changes of a run, in the order of their keys, and empties it.
  func apply(_ run: inout CellRun, in tree: TreeNumber) throws(StoreError) {
    if StoreDefect.repeatedKeyKept.isPlanted { try keepRepeatedKeys(&run, in: tree) }
    if run.count == 0 { return }
    run.sort()
    for index in 0..<run.count {
      let key = run.key(index)
      if case .store(let value) = run.action(index) {
        assert(Schema.canRead(key, value, in: tree), "\(Schema.name(of: tree)): malformed cell")
      }
      if hasListeners { noteChange(of: key, in: tree) }
    }
    let isRight = try storage { () throws(PageFileError) in
      try BTree(view.source, tree).apply(run)
    }
    run.removeAll()
    guard isRight else { throw view.corrupt(tree, "missing entry, or malformed number") }
  }

  /// Takes nothing from the number of a key that several records have: a planted defect.
  private func keepRepeatedKeys(_ run: inout CellRun, in tree: TreeNumber) throws(StoreError) {
    var value = ByteBuffer(capacity: 16)
    for index in (0..<run.count).reversed() {
      guard case .count(let difference) = run.action(index), difference < 0 else { continue }
      value.removeAll()
      // The value of a key that only one record has is empty.
      let isThere = try view.value(of: run.key(index), in: tree, appendTo: &value)
      if isThere, value.count > 0 { run.drop(index) }
    }
  }

  /// Changes the keys of an index as a record changes.
  ///
  /// - Parameters:
  ///   - old: The record before the change; nil if there was none.
  ///   - new: The record after it; nil if it is removed.
  func update<I: RecordIndex>(
    _ index: I.Type, from old: I.Record?, to new: I.Record?
  ) throws(StoreError) {
    var cells = memory.takeCells()
    try cells.change(index, from: old, to: new)
    if !index.isCounted, cells.count == 2, case .remove = cells.action(0),
      case .store = cells.action(1)
    {
      // The only key that changes: its cell may stay where it is.
      try rekey(cells.key(0), to: cells.key(1), in: index.tree)
      cells.removeAll()
    } else {
      try apply(&cells, in: index.tree)
    }
    memory.giveBack(cells)
  }

  /// Inserts a cell that was read from the store, unchecked: it may have been malformed before.
  @inline(never)
  func insert(stored key: Bytes, _ value: Bytes, in tree: TreeNumber) throws(StoreError) {
    if hasListeners { noteChange(of: key, in: tree) }
    _ = try storage { () throws(PageFileError) in
      try BTree(view.source, tree).insert(key, value)
    }
  }

  @inline(never)
  func remove(_ key: Bytes, in tree: TreeNumber) throws(StoreError) {
    if hasListeners { noteChange(of: key, in: tree) }
    let wasThere = try storage { () throws(PageFileError) in
      try BTree(view.source, tree).remove(key)
    }
    guard wasThere else { throw view.corrupt(tree, "missing entry") }
  }
}

extension Transaction {
  /// Removes entries whose keys begin with a prefix, up to a limit, and returns their count.
  func removeAll(
    _ prefix: Bytes, in tree: TreeNumber, limit: Int = .max
  ) throws(StoreError) -> Int {
    var count = 0
    var key = ByteBuffer()
    while !isStepFull(count, of: limit), try flushed().firstKey(prefix, in: tree, to: &key) {
      count += 1
      try remove(key.bytes, in: tree)
    }
    return count
  }
}

extension Transaction {
  /// Returns the members' numbers in the order given, each once.
  package func memberNumbers(of members: [MemberID]) throws(StoreError) -> [UInt32] {
    var seen: Set<UInt32> = []
    var numbers: [UInt32] = []
    for member in members {
      let number = try memberNumber(of: member)
      if seen.insert(number).inserted { numbers.append(number) }
    }
    return numbers
  }

  /// Returns the name of the local member.
  func localMemberID() throws(StoreError) -> MemberID {
    guard let localMember else { throw .noLocalMember }
    return try change { () throws(StoreError) in try view.member(localMember) }
  }

  /// Notes that the outbox has changed.
  func noteOutboxChange() {
    if hasListeners { notes.hasOutboxChanges = true }
  }

  /// Notes that something of the store as a whole has changed.
  func noteSettingChange() {
    if hasListeners { notes.hasSettingChanges = true }
  }

  /// Notes that a message that is not in a conversation has other names, under which its replies
  /// are found.
  func noteLookupChange(in conversation: UInt32) {
    if hasListeners { notes.lookupsChanged(in: conversation) }
  }

  /// Notes the changes that can be told from the key of a cell alone.
  ///
  /// Every write of facts, details, members, receipts, sync positions, rules, or a draft passes
  /// through here, so the writing code need not note its changes itself.
  @inline(never)
  func noteChange(of key: Bytes, in tree: TreeNumber) {
    if tree == Schema.facts {
      guard let parts = FactKey.parts(key) else { return }
      notes.factChanged(parts.kind, of: parts.id, in: parts.conversation)
      return
    }
    guard let number = key.bigEndianNumber(at: 0) else { return }
    let isLong = key.count > KeyEncoding.numberByteCount
    switch tree {
    case Schema.conversations where isLong:
      noteChange(ofCell: key, of: number)
    case Schema.client, Schema.retention:
      if number == 0 { notes.hasSettingChanges = true } else { notes.touched(number) }
    default: break
    }
  }

  private func noteChange(ofCell key: Bytes, of conversation: UInt32) {
    switch key[KeyEncoding.numberByteCount] {
    case ConversationDetails.keySuffix: notes.detailsChanged(of: conversation)
    // Notes of their own say more of sequences.
    case KnownSequences.keySuffix: break
    case ReceiptKey.memberSuffix where key.bigEndianNumber(at: 5) != localMember:
      // Receipts of other members are noted with the messages that they cover.
      break
    case ReceiptKey.suffixes: notes.readingChanged(in: conversation)
    default: notes.touched(conversation)
    }
  }

  /// The number of outbox entries that one commit may change.
  var maximumEntryCount: Int { rules.steps.maximumEntryCount }

  /// The number of entries that one commit may remove.
  var maximumSweepCount: Int { rules.steps.maximumSweepCount }

  /// The number of messages that one commit may move.
  var maximumMergeCount: Int { rules.steps.maximumMergeCount }

  /// Begins a step of work and sets its deadline.
  func beginStep() { stepEnd = .now + rules.steps.maximumTime }

  /// Returns true if a step has done enough: by count, by the pages it has changed, or by time.
  ///
  /// Every step does at least one thing.
  @inline(never)
  func isStepFull(_ count: Int, of maximumCount: Int) -> Bool {
    if count == 0 { return maximumCount <= 0 }
    return count >= maximumCount
      || view.source.changedByteCount >= rules.steps.maximumChangedByteCount
        && !StoreDefect.changedPagesUncounted.isPlanted
      || stepEnd.map { $0 <= .now } ?? false
  }
}

extension Transaction {
  @inline(never)
  func collect(_ effect: Effect) {
    effects.append(effect)
    hasEffects = true
  }

  func takeEffects() -> [Effect] {
    defer { (effects, hasEffects) = ([], false) }
    return effects
  }
}
