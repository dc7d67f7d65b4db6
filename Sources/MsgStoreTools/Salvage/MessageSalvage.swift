import MsgStore
package import PageFile
package import PageFileSalvage

/// A salvage of a damaged store's messages into a new store.
///
/// Conversations are taken in the order of their numbers, each with its messages in order, and are
/// restored as from an export. So counters, previews and lists are made anew, and the new store is
/// sound whatever the state of the old one.
///
///  1. A message is saved if its own record can be read, whatever else is lost around it. A lost
///     conversation or sender name gets a substitute. Of its facts, the readable ones are saved.
///  2. A message in a page that may be outdated is left out if the entry of its id, in a page at
///     least as new, is gone or leads elsewhere: it was deleted or has moved. If the entry says
///     that it was deleted, it is left out whichever is newer, because a deletion is final.
///  3. Of two records of one message the first in the order of the thread counts. A message moves
///     towards the beginning, unless the server corrects its place ([G-3] in
///     docs/message-format.md), so that is nearly always the newer one.
///  4. The other known sequences of a conversation are saved only if all of its messages are.
///     Otherwise lost messages could not be told from numbers that never had one, and would never
///     be fetched again.
package final class MessageSalvage {
  /// The number of messages in one commit.
  static let batchCount = 500
  static let batchByteCount = 4 << 20

  /// A function that is told the number of finished leaves and that of all.
  package typealias Progress = (_ leafCount: Int, _ totalLeafCount: Int) throws -> Void

  let source: PageSalvage
  let names: SalvagedNames
  let facts: SalvagedFacts
  let work: SalvagedWork
  private let conversations: SalvagedConversations
  private let messages: SalvagedMessages
  private var hasMessage: Bool
  private var current: Open?
  /// The saved conversations, by their old numbers.
  private(set) var saved: [UInt32: ConversationID] = [:]
  private var savedIDs: Set<ConversationID> = []
  /// The local member, if known.
  private var localMember: MemberID?
  let clock = CreationClock()
  let leaves: SalvagedLeaves
  var report = MessageSalvageReport()
  var lost = LostRecords()
  /// The number of outbox entries that had nothing left to tell.
  var goneEntryCount = 0

  /// The conversation whose messages are being saved.
  private struct Open {
    let number: UInt32
    let id: ConversationID
    let summary: ConversationSummary?
    /// False if it is merged into one saved before; only a new one gets its own marks.
    let isNew: Bool
    /// The message count that it states; unknown for one that was being moved.
    let statedCount: Int
    let exact: [(kind: ReceiptKind, message: MessageID, first: UInt64)]
    /// The known sequences, other than the newest run.
    let sequences: [ClosedRange<Int64>]
    let deliveredOrdinal: UInt64
    var savedCount = 0
  }

  package init(_ source: PageSalvage) {
    self.source = source
    names = SalvagedNames(source)
    conversations = SalvagedConversations(source)
    facts = SalvagedFacts(source, names)
    work = SalvagedWork(source)
    leaves = SalvagedLeaves(source)
    messages = SalvagedMessages(source)
    hasMessage = messages.next()
  }

  /// Makes a store from all readable data in a directory of any kind.
  ///
  /// - Parameter progress: Called after each commit with the number of leaves whose cells have been
  ///   saved, and that of all leaves; an error that it throws ends the salvage.
  package func run(
    in directory: any StorageDirectory, name: String,
    progress: Progress = { _, _ in }
  ) throws -> MessageSalvageReport {
    let store = try MessageStore(in: directory, name: name, options: try options())
    try progress(0, leaves.totalCount)
    var isDone = false
    while !isDone {
      try store.write(.relaxed) { writer in isDone = try saveBatch(with: writer) }
      try progress(messages.passedLeafCount, leaves.totalCount)
    }
    try saveEmptyConversations(in: store)
    messages.finish(in: leaves)
    try saveRest(in: store, progress)
    try progress(leaves.totalCount, leaves.totalCount)
    try store.checkpoint()
    try store.close()
    if !names.nameless.isEmpty {
      report.repairs.append(
        "the names of \(names.nameless.count) members are lost; "
          + "they are called \"member N (name lost)\"")
    }
    for records in [conversations.lost, facts.lost, lost] { report.add(records) }
    return report
  }

  /// Returns the options for the new store, from the old store's settings.
  private func options() throws(StoreError) -> StoreOptions {
    let version = source.setting(Schema.versionName).value
    if let found = version, found > Schema.version {
      throw .opening(.schemaTooNew(found: found, supported: Schema.version))
    }
    if let found = version, found < Schema.version {
      throw .opening(.schemaTooOld(found: found, supported: Schema.version))
    }
    var options = StoreOptions(pageByteCount: source.report.pageByteCount)
    options.encryption = source.encryption
    let clock = clock
    options.clock = { clock.now }
    // The entries come from the old store.
    options.outbox.isEnabled = false
    options.prunesByItself = false
    let (local, isLost) = localMemberNumber()
    localMember = local.flatMap(UInt32.init(exactly:)).flatMap(names.knownMember)
    options.localMember = localMember
    if options.localMember == nil, isLost || local != nil {
      report.repairs.append("the local member is lost; open the store with it")
    }
    return options
  }

  /// Returns the number of the local member, and whether it is lost.
  private func localMemberNumber() -> (value: UInt64?, isLost: Bool) {
    switch source.word(.localMember) {
    case nil: return source.setting(Schema.localMemberName)
    case 0?:
      // The first opening with a local member was not finished.
      let coming = source.word(.comingMember) ?? 0
      return (coming == 0 ? nil : coming, false)
    case let number?: return (number, false)
    }
  }

  // MARK: Saving

  /// Saves one commit's worth of data; returns true once nothing is left.
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

  /// Returns the lowest number of a conversation that is still to be saved.
  private func nextNumber() -> UInt32? {
    var next: UInt32?
    while hasMessage, next == nil {
      next = messages.key.bigEndianNumber(at: 0)
      if next == nil { lost.add(messages.cursor, messages.tree, "malformed key") }
      // A conversation that is being swept was deleted.
      if let number = next, work.swept.contains(number) { next = nil }
      if next == nil { hasMessage = messages.next() }
    }
    return [next, conversations.nextNumber].compactMap { $0 }.min()
  }

  /// Makes the conversation, from its number alone if necessary; returns the approximate size of
  /// its records.
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
        "the read mark of conversation \"\(id)\" is lost; all of it counts as read")
    }
    clock.created = summary.map { Timestamp(microseconds: $0.created) }
    try writer.transaction.perform(
      try writer.transaction.restoring.restoreSalvaged(id, salvaged, names))
    let isNew = savedIDs.insert(id).inserted
    if isNew { report.conversationCount += 1 }
    saved[number] = id
    current = Open(
      number: number, id: id, summary: summary, isNew: isNew,
      statedCount: salvaged.summary?.messageCount ?? 0, exact: salvaged.exact,
      sequences: salvaged.sequences, deliveredOrdinal: salvaged.ownReceipts.deliveredOrdinal)
    if isNew {
      try writer.restore(ExportedMarks(salvaged.ownReceipts, readMark: summary?.mark, of: id))
    }
    try save(salvaged.receipts, summary, of: id, with: writer)
    let textByteCount =
      (details?.title.text?.utf8.count ?? 0) + (salvaged.draft?.text?.utf8.count ?? 0)
      + (salvaged.fields?.own.byteCount ?? 0)
    return textByteCount + (salvaged.members?.members.count ?? 0) * 16
      + (salvaged.receipts.count + salvaged.exact.count) * 256
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
      // The summary has a copy of this mark.
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
      if let newest = summary.sequences { try writer.declareAbsent(newest, in: open.id) }
      for run in open.sequences { try writer.declareAbsent(run, in: open.id) }
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

  /// Saves the message at the cursor; returns its size.
  private func saveMessage(
    of open: Open, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    if let reason = messages.lostReason {
      lost.add(messages.cursor, messages.tree, reason)
      return 0
    }
    if let reason = messages.takeLoss() { lost.add(messages.cursor, messages.tree, reason) }
    guard let position = messages.key.dropFirst(KeyEncoding.numberByteCount).position,
      let record = MessageRecord(messages.record),
      let stored = StoredMessage(record, at: position.place)
    else {
      lost.add(messages.cursor, messages.tree, "malformed message")
      return 0
    }
    guard !isGone(position, in: open) else {
      report.deletedCount += 1
      return 0
    }
    var message = exported(stored, at: position, of: open)
    let found = facts(of: stored, named: message.id, isPending: position.place.isPending, of: open)
    message.facts = found.facts
    if !message.own.takeLong(&message.facts) {
      report.add(.init(conversation: open.id, message: message.id, kinds: [.ownField]))
    }
    let isNew = try saving(messages.cursor, messages.tree) { () throws(StoreError) in
      try writer.restore(message, as: .live)
    }
    if isNew == true {
      report.messageCount += 1
      current?.savedCount += 1
    }
    return message.text.utf8.count + found.byteCount
  }

  /// Returns the form of a message that the new store can take, without its facts.
  private func exported(
    _ stored: StoredMessage, at position: MessagePosition, of open: Open
  ) -> ExportedMessage {
    let mark = open.summary?.mark.flatMap { mark in open.summary.map { (mark, $0.markOrdinal) } }
    var message = ExportedMessage(
      stored, at: position, in: open.id, mark: mark, member: names.member)
    if message.serverName == message.id { (message.serverName, message.aliases) = (nil, []) }
    let keyName = message.serverName
    message.aliases = Set(message.aliases.filter { $0 != message.id && $0 != keyName }).sorted()
    if !open.isNew || open.summary == nil {
      // The marks that it meets are not those of its own conversation.
      let isUnseen = open.summary?.isUnseen(stored, at: position) ?? false
      message.arrival = isUnseen ? nil : .history
      message.isLate = isUnseen
    }
    return message
  }

  /// Returns the remaining facts of a message, and reports announced facts that are lost.
  private func facts(
    of message: StoredMessage, named id: MessageID, isPending: Bool, of open: Open
  ) -> SalvagedFacts.Found {
    let expected = message.traits.marks.factKinds
    var kinds = isPending ? expected.union([.waitingMark]) : expected
    if message.traits.ownFields.hasLarge { kinds.insert(.ownField) }
    let lostKinds =
      messages.isMaybeSetBack ? MessageTraits.Bits.facts.factKinds.union([.ownField]) : []
    guard !kinds.isEmpty || !lostKinds.isEmpty else { return SalvagedFacts.Found() }
    let found = facts.facts(of: id, in: open.number, kinds, certainKinds: lostKinds)
    let missing = expected.subtracting(found.kinds).sorted { $0.rawValue < $1.rawValue }
    if !missing.isEmpty {
      report.add(.init(conversation: open.id, message: id, kinds: missing))
    }
    return found
  }

  /// Runs an operation that may refuse values that no sound store has.
  ///
  /// A refused record is reported as lost, and the result is nil.
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

  /// Returns true if a message was deleted or has moved since its page was written.
  private func isGone(_ position: MessagePosition, in open: Open) -> Bool {
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

  /// Saves the conversations of which only the name is left.
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
