package import PageFile

/// What one write transaction knows beside the trees: the summaries it has touched, and numbers.
///
/// Summaries are kept here until the commit or until somebody wants to read conversations, so that
/// five hundred messages for one conversation write its summary once; and beyond the commit, so that
/// the next transaction need not read it.
///
///  1. A fault of the storage or a corrupt record may have left a change half done; from then on
///     every change throws it again, and so does `finish`, and nothing is committed.
///  2. Whatever else is refused is refused before anything changes.
package final class Transaction {
  package let view: StoreView
  /// The time, for what comes without one.
  package let clock: @Sendable () -> Timestamp
  /// Whose unread messages are counted.
  var localMember: UInt32? {
    get { view.localMember }
    set { view.localMember = newValue }
  }
  /// What binds the local member.
  let rules: StoreRules
  /// Whether anything waits for messages that are not here; nil while nobody has looked.
  var isAnythingWaiting: Bool?
  /// What the writer before has left, and what this one leaves.
  let memory: WriterMemory
  /// Whether the transaction has made the store larger.
  ///
  /// One that has not, as a deletion, may use the room that is kept for when the device is full.
  var hasAdded = false
  /// The transfers that run, as others see them.
  let running: RunningTransfers
  /// Those that this transaction has begun, with the bytes done, and those that it has ended: nil.
  var transferChanges: [RunningTransfers.Key: Int64?] = [:]
  /// Progress that this transaction has stored.
  var savedProgress: [RunningTransfers.Key: Int64] = [:]
  /// Whether what is kept of the outbox as a whole is still to be written.
  var isOutboxChanged = false
  /// Whether the transaction hands out work, which may only leave the device once it is durable.
  var isDurabilityWanted = false
  /// How the totals change by what is written.
  var totals = TotalsChange()
  /// Reads the newest dictionary that is committed, or none.
  let newestDictionary: () -> CompressionDictionary
  /// Whether somebody listens to what changes; then it is noted.
  package let isHeard: Bool
  var notes = ChangeNotes()
  private var failure: StoreError?
  /// The effects that the outbox has not answered yet, see `Effect`.
  var effects: [Effect] = []
  /// True once a reader was handed out: then every operation ends by writing its changes to the trees.
  var isReadThrough = false
  /// When a step of work is to end; nil outside of one.
  var stepEnd: ContinuousClock.Instant?

  init(
    _ view: StoreView, memory: WriterMemory = WriterMemory(), localMember: UInt32?,
    rules: StoreRules = StoreRules(), running: RunningTransfers = RunningTransfers(),
    isHeard: Bool = false,
    newestDictionary: @escaping () -> CompressionDictionary = { CompressionDictionary.none },
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.newestDictionary = newestDictionary
    self.rules = rules
    self.running = running
    self.isHeard = isHeard
    self.view = view
    self.memory = memory
    isAnythingWaiting = memory.isAnythingWaiting
    self.view.localMember = localMember
    self.clock = clock
  }

  /// From now on dictionaries that are read are not kept for others, and what packs with the dictionary
  /// that was the newest does not pass to the next writer.
  func stopKeepingDictionaries() {
    view.keepsDictionaries = false
    memory.packsWithOldDictionary = true
  }

  /// Runs one change, see rule 1.
  func change<R: ~Copyable>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    if let failure { throw failure }
    do throws(StoreError) {
      return try view.within(body)
    } catch {
      switch error {
      case .storage, .corruptRecord, .numbersExhausted: failure = error
      default: break
      }
      throw error
    }
  }

  /// The view for reading the tree of messages, once the messages that wait are in it.
  func flushed() throws(StoreError) -> StoreView {
    try memory.unwritten.flush(to: view.source)
    return view
  }

  package func insert(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) throws(StoreError) {
    assert(Schema.canRead(key, value, in: tree), "\(Schema.name(of: tree)): nobody could read it")
    try insert(stored: key, value, in: tree)
  }

  /// Inserts what was read from the store as it is: if it is no record, it was none before.
  func insert(stored key: Bytes, _ value: Bytes, in tree: TreeNumber) throws(StoreError) {
    if isHeard { noteChange(of: key, in: tree) }
    _ = try storage { () throws(PageFileError) in
      try BTree(view.source, tree).insert(key, value)
    }
  }

  func remove(_ key: Bytes, in tree: TreeNumber) throws(StoreError) {
    if isHeard { noteChange(of: key, in: tree) }
    let wasThere = try storage { () throws(PageFileError) in
      try BTree(view.source, tree).remove(key)
    }
    guard wasThere else { throw view.corrupt(tree, "an entry is missing") }
  }
}

extension Transaction {
  /// Removes entries whose keys begin alike, up to a limit; returns how many.
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

/// Numbers of conversations and members, given when there is none yet.
extension Transaction {
  /// A conversation by its name, or nil when it is not there.
  package func existingConversation(_ id: ConversationID) throws(StoreError) -> OpenConversation? {
    if let conversation = memory.conversation(id) { return conversation }
    var number = memory.numbers.conversations[id]
    if number == nil {
      number = try view.number(of: id)
      if let number { memory.numbers.insert(id, number) }
    }
    guard let number else { return nil }
    let conversation = try conversation(number)
    memory.insert(conversation, named: id)
    return conversation
  }

  /// A conversation by its number.
  func conversation(_ number: UInt32) throws(StoreError) -> OpenConversation {
    if let conversation = memory.conversation(number) { return conversation }
    var cursor = Cursor(view.source, Schema.conversations)
    let summary = try view.conversations.summary(number, &cursor)
    let conversation = OpenConversation(
      number, summary, isStored: true, byteCount: cursor.valueByteCount)
    memory.insert(conversation)
    return conversation
  }

  /// The summary of a conversation that this transaction has touched, as it will be written.
  func openSummary(_ number: UInt32) -> ConversationSummary? {
    memory.conversations[number]?.summary
  }

  /// A conversation by its name; a new one with these details when it is not there.
  package func conversation(
    _ id: ConversationID, orNew details: () -> ConversationDetails
  ) throws(StoreError) -> OpenConversation {
    if let conversation = try existingConversation(id) { return conversation }
    hasAdded = true
    let number = try newNumber(.nextConversation, "conversation")
    try writeName(ConversationName(number: number, isFormer: false), of: id)
    try writeDetails(details(), of: number)
    let summary = ConversationSummary(created: clock().microseconds)
    let conversation = OpenConversation(number, summary, isStored: false)
    conversation.id = id
    memory.insert(conversation)
    memory.numbers.insert(id, number)
    memory.insert(conversation, named: id)
    return conversation
  }

  /// The number of a member, given now if there is none.
  package func memberNumber(of id: MemberID) throws(StoreError) -> UInt32 {
    if let number = memory.numbers[id] { return number }
    if let number = try view.number(of: id.string, in: Schema.memberNames) {
      memory.numbers.insert(id, number)
      return number
    }
    let number = try newNumber(.nextMember, "member")
    let key = KeyEncoding.key(number)
    let name = KeyEncoding.key(id.string)
    var value = ByteBuffer()
    value.append(littleEndian: number)
    try insert(name.bytes, value.bytes, in: Schema.memberNames)
    try insert(key.bytes, name.bytes, in: Schema.members)
    memory.numbers.insert(id, number)
    return number
  }

  /// Whether there is a conversation of this number.
  func isStored(_ number: UInt32) throws(StoreError) -> Bool {
    if memory.conversations[number] != nil { return true }
    let key = KeyEncoding.key(number)
    return try storage { () throws(PageFileError) in
      try BTree(view.source, Schema.conversations).contains(key.bytes)
    }
  }

  /// A conversation with a new number.
  func add(
    _ number: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> OpenConversation {
    let conversation = OpenConversation(number, summary, isStored: false)
    memory.insert(conversation)
    return conversation
  }

  func writeName(_ name: ConversationName, of id: ConversationID) throws(StoreError) {
    let key = KeyEncoding.key(id.string)
    var value = ByteBuffer()
    name.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.conversationNames)
  }

  func newNumber(_ setting: Setting, _ what: String) throws(StoreError) -> UInt32 {
    let next = try view.source.value(of: setting) ?? 1
    guard next > 0, next < UInt64(UInt32.max) else { throw .numbersExhausted(what: what) }
    try view.source.set(setting, to: next + 1)
    return UInt32(next)
  }
}

extension Transaction {
  /// The members' numbers in the order given, each once.
  package func memberNumbers(of members: [MemberID]) throws(StoreError) -> [UInt32] {
    var seen: Set<UInt32> = []
    var numbers: [UInt32] = []
    for member in members {
      let number = try memberNumber(of: member)
      if seen.insert(number).inserted { numbers.append(number) }
    }
    return numbers
  }

  /// The name of the local member.
  func localMemberID() throws(StoreError) -> MemberID {
    guard let localMember else { throw .noLocalMember }
    return try change { () throws(StoreError) in try view.member(localMember) }
  }

  /// Notes that the outbox has changed.
  func noteOutboxChange() {
    if isHeard { notes.hasOutboxChanges = true }
  }

  /// Notes what can be seen from a tree's key alone.
  ///
  /// Whatever writes facts, details, members or a draft comes by here, and need not think of it.
  func noteChange(of key: Bytes, in tree: TreeNumber) {
    if tree == Schema.facts {
      guard let parts = FactKey.parts(key) else { return }
      notes.factChanged(parts.kind, of: parts.id, in: parts.conversation)
    } else if tree == Schema.conversations, key.count > KeyEncoding.numberByteCount,
      let number = key.bigEndianNumber(at: 0)
    {
      notes.touched(number)
    }
  }

  /// How many entries of the outbox one commit may change.
  var entryCountMax: Int { rules.steps.entryCountMax }

  /// How many entries one commit may remove.
  var sweepCountMax: Int { rules.steps.sweepCountMax }

  /// How many messages one commit may move.
  var mergeCountMax: Int { rules.steps.mergeCountMax }

  /// From now on what is done counts as one step.
  func beginStep() { stepEnd = .now + rules.steps.timeMax }

  /// Whether a step has done enough; it does one thing at least.
  func isStepFull(_ count: Int, of countMax: Int) -> Bool {
    count >= countMax || count > 0 && stepEnd.map { $0 <= .now } ?? false
  }
}

extension Transaction {
  /// Writes the details of a conversation.
  func writeDetails(_ details: ConversationDetails, of number: UInt32) throws(StoreError) {
    let key = ConversationDetails.key(number)
    var value = ByteBuffer(capacity: 256)
    details.appendChecked(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.conversations)
  }
}
