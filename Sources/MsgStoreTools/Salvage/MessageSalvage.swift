import MsgStore
package import PageFile

/// Stores everything in a new store that can be read of a damaged one.
///
/// Conversations are taken in the order of their numbers, each with its messages in their order, and
/// are restored as from an export, so that counters, previews and lists are made anew and the new
/// store is sound whatever the old one was.
///
///  1. A message is saved when its own record can be read, whatever else is lost around it: its
///     conversation is made up where it is lost, and so is the name of its sender. Of its facts those
///     are saved that can be read.
///  2. A message in a page that may be out of date is left out where the entry of its id, in a page
///     at least as new, is gone or leads elsewhere: it was deleted, or has moved. One whose entry
///     says that it was deleted is left out whatever is newer, since that is said once for all.
///  3. Of two records of one message the first in the order of the thread counts. A message moves
///     towards the beginning, unless the server corrects its place ([G-3] in
///     docs/message-format.md), so that is nearly always the newer one.
///  4. What else a conversation knew of sequences is saved only if all of its messages are: else
///     those that are lost could not be told from those that never were, and nobody would fetch them
///     anew.
package final class MessageSalvage {
  /// Messages in one commit, and bytes of text, give or take a message.
  static let batchCount = 500
  static let batchByteCount = 4 << 20

  let source: PageSalvage
  let names: SalvagedNames
  let facts: SalvagedFacts
  let work: SalvagedWork
  private let conversations: SalvagedConversations
  private let receipts: SalvagedReceipts
  private let sequences: SalvageCursor
  private let messages: SalvagedMessages
  private var hasMessage: Bool
  private var current: Open?
  /// The conversations that are saved, by their old numbers.
  private(set) var saved: [UInt32: ConversationID] = [:]
  private var savedIDs: Set<ConversationID> = []
  /// Whose store it is, where that is known.
  private var localMember: MemberID?
  let clock = CreationClock()
  var report = MessageSalvageReport()
  var lost = LostRecords()
  /// Entries of the outbox that have nothing to tell any more.
  var goneEntryCount = 0

  /// The conversation whose messages are being saved.
  private struct Open {
    let number: UInt32
    let id: ConversationID
    let summary: ConversationSummary?
    /// Whether it is not part of one that was saved before: then it has its marks.
    let isNew: Bool
    /// How many messages it says it has; of one that was being moved nobody can say.
    let statedCount: Int
    let exact: [(kind: ReceiptKind, message: MessageID, first: UInt64)]
    let deliveredOrdinal: UInt64
    var savedCount = 0
  }

  package init(_ source: PageSalvage) {
    self.source = source
    names = SalvagedNames(source)
    conversations = SalvagedConversations(source)
    facts = SalvagedFacts(source, names)
    receipts = SalvagedReceipts(source)
    work = SalvagedWork(source)
    sequences = source.cursor(Schema.sequences)
    messages = SalvagedMessages(source)
    hasMessage = messages.next()
  }

  /// Makes a store of all that can be read.
  package func run(path: String) throws -> MessageSalvageReport {
    let (directory, name) = PosixDirectory.resolve(path)
    return try run(in: PosixDirectory(path: directory), name: name)
  }

  /// The same in a directory of any kind.
  package func run(
    in directory: any StorageDirectory, name: String
  ) throws -> MessageSalvageReport {
    let store = try MessageStore(in: directory, name: name, options: try options())
    var isDone = false
    while !isDone {
      try store.write(.relaxed) { writer in isDone = try saveBatch(with: writer) }
    }
    try saveEmptyConversations(in: store)
    try saveRest(in: store)
    try store.checkpoint()
    try store.close()
    if !names.nameless.isEmpty {
      report.repairs.append(
        "the names of \(names.nameless.count) members are lost; "
          + "they are called \"member N (name lost)\"")
    }
    for records in [conversations.lost, receipts.lost, facts.lost, lost] { report.add(records) }
    return report
  }

  /// What is known of the store as a whole.
  private func options() throws(StoreError) -> StoreOptions {
    let version = source.value(of: .schemaVersion)
    if let found = version.value, found > Schema.version {
      throw .schemaTooNew(found: found, supported: Schema.version)
    }
    if let found = version.value, found < Schema.versionMin {
      throw .schemaTooOld(found: found, supported: Schema.versionMin)
    }
    var options = StoreOptions(pageByteCount: source.report.pageByteCount)
    let clock = clock
    options.clock = { clock.now }
    // What was entered comes from the old store.
    options.outbox.isOn = false
    var local = source.value(of: .localMember)
    // The first opening with a local member was not finished.
    if local.value == nil, case let coming = source.value(of: .comingMember),
      coming.value != nil
    {
      local = coming
    }
    localMember = local.value.flatMap(UInt32.init(exactly:)).flatMap(names.knownMember)
    options.localMember = localMember
    if options.localMember == nil, local.isLost || local.value != nil {
      report.repairs.append("whose store it is is lost; open it with its local member")
    }
    return options
  }

  // MARK: Saving

  /// Saves as much as one commit should have; true when there is nothing more.
  private func saveBatch(with writer: borrowing StoreWriter) throws(StoreError) -> Bool {
    var count = 0
    var byteCount = 0
    while count < Self.batchCount, byteCount < Self.batchByteCount {
      count += 1
      if let open = current {
        guard hasMessage, messages.key.bigEndianNumber(at: 0) == open.number else {
          try close(open, with: writer)
          continue
        }
        byteCount += try saveMessage(of: open, with: writer)
        hasMessage = messages.next()
      } else if let next = nextNumber() {
        byteCount += try begin(next, with: writer)
      } else {
        return true
      }
    }
    return false
  }

  /// The lowest number of a conversation that is still to come.
  private func nextNumber() -> UInt32? {
    var next: UInt32?
    while hasMessage, next == nil {
      next = messages.key.bigEndianNumber(at: 0)
      if next == nil { lost.add(messages.cursor, Schema.messages, "its key is none") }
      // What is being removed was deleted.
      if let number = next, work.swept.contains(number) { next = nil }
      if next == nil { hasMessage = messages.next() }
    }
    return [next, conversations.nextNumber].compactMap { $0 }.min()
  }

  /// Makes the conversation, if need be from nothing but its number; answers about how long its
  /// records are.
  private func begin(
    _ number: UInt32, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    let salvaged = conversations.take(number)
    let (merging, target) = work.merging(number) ?? (nil, nil)
    let (summary, details) = (salvaged.summary ?? merging, salvaged.details)
    var id: ConversationID
    if let known = details?.id ?? target {
      id = known
    } else {
      let isKnown: Bool
      (id, isKnown) = names.conversation(number)
      report.repairs.append(
        "title and participants of conversation \"\(id)\" are lost"
          + (isKnown ? "" : ", and so is its name"))
    }
    if summary == nil {
      report.repairs.append(
        "what was read of conversation \"\(id)\" is lost; all of it counts as read")
    }
    clock.created = summary.map { Timestamp(microseconds: $0.created) }
    try writer.transaction.perform(
      try writer.transaction.restoring.restoreSalvaged(id, salvaged, names))
    let isNew = savedIDs.insert(id).inserted
    if isNew { report.conversationCount += 1 }
    saved[number] = id
    let receipts = receipts.receipts(of: number)
    current = Open(
      number: number, id: id, summary: summary, isNew: isNew,
      statedCount: salvaged.summary?.messageCount ?? 0, exact: receipts.exact,
      deliveredOrdinal: receipts.own.deliveredOrdinal)
    if isNew {
      try writer.restore(ExportedMarks(receipts.own, readMark: summary?.mark, of: id))
    }
    try save(receipts.members, summary, of: id, with: writer)
    let textByteCount =
      (details?.title.text?.utf8.count ?? 0) + (salvaged.draft?.text?.utf8.count ?? 0)
    return textByteCount + (salvaged.members?.members.count ?? 0) * 16
      + (receipts.members.count + receipts.exact.count) * 256
  }

  private func save(
    _ receipts: [(member: UInt32, record: ReceiptRecord)], _ summary: ConversationSummary?,
    of id: ConversationID, with writer: borrowing StoreWriter
  ) throws(StoreError) {
    var isToldLost = true
    for (number, record) in receipts {
      let member = names.member(number)
      if member == localMember { isToldLost = false }
      try writer.restore(ExportedReceipts(record, of: member, in: id))
    }
    if isToldLost, let localMember, let mark = summary?.toldMark {
      // The summary repeats it.
      var told = ReceiptRecord()
      told.read.join(mark, nil)
      try writer.restore(ExportedReceipts(told, of: localMember, in: id))
    }
  }

  private func close(_ open: Open, with writer: borrowing StoreWriter) throws(StoreError) {
    current = nil
    if open.savedCount < open.statedCount {
      report.shortfalls.append(
        .init(
          conversation: open.id, savedCount: open.savedCount, statedCount: open.statedCount))
    } else if open.isNew, let summary = open.summary {
      try saveSequences(open.number, summary, of: open.id, with: writer)
    }
    for (kind, message, first) in open.exact {
      var untold = ExportedUntold()
      (untold.conversation, untold.message, untold.kind) = (open.id, message, kind)
      let ordinal = kind == .read ? open.summary?.markOrdinal : open.deliveredOrdinal
      untold.isLate = first > ordinal ?? 0
      try writer.restore(untold)
    }
    try writer.finishRestoring(open.id)
  }

  /// Rule 4.
  private func saveSequences(
    _ number: UInt32, _ summary: ConversationSummary, of id: ConversationID,
    with writer: borrowing StoreWriter
  ) throws(StoreError) {
    if let newest = summary.sequences { try writer.declareAbsent(newest, in: id) }
    let prefix = KeyEncoding.key(number)
    sequences.seek(prefix.bytes)
    while sequences.next(), sequences.key.hasPrefix(prefix.bytes) {
      if let run = KnownSequences.run(sequences.key, sequences.value) {
        try writer.declareAbsent(run, in: id)
      } else {
        lost.add(sequences, Schema.sequences, "it is no run of sequences")
      }
    }
  }

  /// Saves the message that the cursor stands at; answers how long it is.
  private func saveMessage(
    of open: Open, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    if let reason = messages.lostReason {
      lost.add(messages.cursor, Schema.messages, reason)
      return 0
    }
    if let reason = messages.takeLoss() { lost.add(messages.cursor, Schema.messages, reason) }
    guard let position = messages.key.dropFirst(KeyEncoding.numberByteCount).position,
      let record = MessageRecord(messages.record),
      let stored = StoredMessage(record, at: position.place)
    else {
      lost.add(messages.cursor, Schema.messages, "it is no message")
      return 0
    }
    guard !isGone(position, in: open) else {
      report.deletedCount += 1
      return 0
    }
    var message = exported(stored, at: position, of: open)
    let found = facts(of: stored, named: message.id, isPending: position.place.isPending, of: open)
    message.facts = found.facts
    let isNew = try saving(messages.cursor, Schema.messages) { () throws(StoreError) in
      try writer.restore(message, as: .live)
    }
    if isNew == true {
      report.messageCount += 1
      current?.savedCount += 1
    }
    return message.text.utf8.count + found.byteCount
  }

  /// What is stored of a message, as the new store can have it, without its facts.
  private func exported(
    _ stored: StoredMessage, at position: Position, of open: Open
  ) -> ExportedMessage {
    let mark = open.summary?.mark.flatMap { mark in open.summary.map { (mark, $0.markOrdinal) } }
    var message = ExportedMessage(
      stored, at: position, in: open.id, mark: mark, member: names.member)
    if message.serverName == message.id { (message.serverName, message.aliases) = (nil, []) }
    let keyName = message.serverName
    message.aliases = Set(message.aliases.filter { $0 != message.id && $0 != keyName }).sorted()
    if !open.isNew || open.summary == nil {
      // It comes to marks that are not its own.
      let isUnseen = open.summary?.isUnseen(stored, at: position) ?? false
      message.arrival = isUnseen ? nil : .history
      message.isLate = isUnseen
    }
    return message
  }

  /// The facts of a message that are left; notes that some are lost that it says it has.
  private func facts(
    of message: StoredMessage, named id: MessageID, isPending: Bool, of open: Open
  ) -> SalvagedFacts.Found {
    let expected = message.traits.marks.factKinds
    let kinds = isPending ? expected.union([.waitingMark]) : expected
    guard !kinds.isEmpty else { return SalvagedFacts.Found() }
    let found = facts.facts(of: id, in: open.number, kinds)
    let missing = expected.subtracting(found.kinds).sorted { $0.rawValue < $1.rawValue }
    if !missing.isEmpty {
      report.add(.init(conversation: open.id, message: id, kinds: missing))
    }
    return found
  }

  /// Runs what may refuse values that no store would have stored; then the record is lost, and the
  /// answer nil.
  func saving<R>(
    _ cursor: SalvageCursor, _ tree: TreeNumber, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    do throws(StoreError) {
      return try body()
    } catch {
      switch error {
      case .storage, .corruptRecord, .numbersExhausted: throw error
      default:
        lost.add(cursor, tree, "\(error)")
        return nil
      }
    }
  }

  /// Whether a message was deleted, or has moved, since its page was written.
  private func isGone(_ position: Position, in open: Open) -> Bool {
    if work.isTrimmed(position.place, in: open.number) { return true }
    if messages.cursor.isCertain { return false }
    if let time = open.summary?.deletedUpTo, !position.place.isPending, position.place.time <= time
    {
      return true
    }
    // Rule 2.
    switch entry(of: position.id, in: open.number) {
    case .unknown: return false
    case .absent(let lsn): return lsn >= messages.cursor.lsn
    case .found(.deleted, _): return true
    case .found(let entry, let lsn):
      return lsn >= messages.cursor.lsn && entry != .here(position)
    }
  }

  /// What the ids tree said of a name.
  enum Entry {
    case found(IDEntry?, LSN)
    case absent(LSN)
    case unknown
  }

  func entry(of id: MessageID, in conversation: UInt32) -> Entry {
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    switch source.value(of: key.bytes, in: Schema.ids, to: &value) {
    case .unknown: return .unknown
    case .absent(let lsn): return .absent(lsn)
    case .found(let lsn): return .found(IDEntry(id, value.bytes), lsn)
    }
  }

  /// Conversations of which nothing but the name is left.
  private func saveEmptyConversations(in store: MessageStore) throws {
    var rest = names.orphanedConversations().sorted { $0.key > $1.key }
    while !rest.isEmpty {
      try store.write(.relaxed) { writer in
        for (number, name) in rest.suffix(Self.batchCount).reversed()
        where !savedIDs.contains(ConversationID(name)) {
          _ = try begin(number, with: writer)
          if let current { try close(current, with: writer) }
        }
      }
      rest.removeLast(min(rest.count, Self.batchCount))
    }
  }
}
