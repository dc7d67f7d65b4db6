package import PageFile

/// Stores everything in a new store that can be read of a damaged one.
///
/// Conversations are taken in the order of their numbers, each with its messages in their order, and
/// go through the same door as any other message, so that counters, previews and lists are made anew
/// and the new store is sound whatever the old one was.
///
///  1. A message is saved when its own record can be read, whatever else is lost around it: its
///     conversation is made up where it is lost, and so is the name of its sender.
///  2. A message in a page that may be out of date is left out where the entry of its id, in a page
///     at least as new, is gone or leads elsewhere: it was deleted, or has moved.
///  3. Of two records of one message the first in the order of the thread counts. A message moves
///     towards the beginning, unless the server corrects its place ([G-3] in
///     docs/message-format.md), so that is nearly always the newer one.
package final class MessageSalvage {
  /// Messages in one commit, and bytes of text, give or take a message.
  private static let batchCount = 500
  private static let batchByteCount = 4 << 20

  private let source: PageSalvage
  private let names: SalvagedNames
  private let conversations: SalvagedConversations
  private let messages: SalvageCursor
  private let work: SalvagedWork
  private var hasMessage: Bool
  private var current: Open?
  private let clock = CreationClock()
  private var report = MessageSalvageReport()

  /// The conversation whose messages are being saved.
  private struct Open {
    let number: UInt32
    let id: ConversationID
    let summary: ConversationSummary?
    /// How many messages it says it has; of one that was being moved nobody can say.
    let statedCount: Int
    var savedCount = 0
  }

  package init(_ source: PageSalvage) {
    self.source = source
    names = SalvagedNames(source)
    conversations = SalvagedConversations(source)
    work = SalvagedWork(source)
    messages = source.cursor(Schema.messages)
    hasMessage = messages.next()
  }

  /// Makes a store of all that can be read.
  package func run(path: String) throws -> MessageSalvageReport {
    let (directory, name) = PosixDirectory.split(path)
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
    try store.checkpoint()
    try store.close()
    if !names.nameless.isEmpty {
      report.repairs.append(
        "the names of \(names.nameless.count) members are lost; "
          + "they are called \"member N (name lost)\"")
    }
    for record in conversations.lost { report.add(record) }
    return report
  }

  /// What is known of the store as a whole.
  private func options() throws(StoreError) -> StoreOptions {
    let version = source.value(of: .schemaVersion)
    if let found = version.value, found > Schema.version {
      throw .schemaTooNew(found: found, supported: Schema.version)
    }
    var options = StoreOptions(pageByteCount: source.report.pageByteCount)
    let clock = clock
    options.clock = { clock.now }
    let local = source.value(of: .localMember)
    options.localMember = local.value.flatMap(UInt32.init(exactly:)).flatMap(names.knownMember)
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
          close(open)
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
      if next == nil { lose("its key is none") }
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
    try writer.state.restore(id, salvaged, names)
    if target == nil { report.conversationCount += 1 }
    current = Open(
      number: number, id: id, summary: summary,
      statedCount: salvaged.summary?.messageCount ?? 0)
    if let summary { try saveMark(summary, with: writer) }
    let textByteCount =
      (details?.title.text?.utf8.count ?? 0) + (salvaged.draft?.text?.utf8.count ?? 0)
    return textByteCount + (salvaged.members?.members.count ?? 0) * 16
  }

  private func close(_ open: Open) {
    if open.savedCount < open.statedCount {
      report.shortfalls.append(
        .init(
          conversation: open.id, savedCount: open.savedCount, statedCount: open.statedCount))
    }
    current = nil
  }

  /// Saves the message at the read mark before all others and marks it as read, so that what comes to
  /// lie behind it is seen as it was.
  private func saveMark(
    _ summary: ConversationSummary, with writer: borrowing StoreWriter
  ) throws(StoreError) {
    guard let mark = summary.mark, let open = current else { return }
    let key = KeyEncoding.key(open.number, mark)
    var value = ByteBuffer()
    guard case .found = source.value(of: key.bytes, in: Schema.messages, to: &value),
      let record = MessageRecord(value.bytes), !summary.isUnseen(record, at: mark),
      let message = message(mark, record, in: open.id)
    else { return }
    try insert(message, as: .history, with: writer)
    _ = try writer.markRead(open.id, upTo: mark)
  }

  /// Saves the message that the cursor stands at; answers how long its text is.
  private func saveMessage(
    of open: Open, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    if let reason = messages.lostReason {
      lose(reason)
      return 0
    }
    guard let position = messages.key.dropFirst(KeyEncoding.numberByteCount).position,
      let record = MessageRecord(messages.value),
      let message = message(position, record, in: open.id)
    else {
      lose("it is no message")
      return 0
    }
    guard messages.isCertain || !isContradicted(position, in: open.number) else {
      report.deletedCount += 1
      return 0
    }
    let isUnseen = open.summary?.isUnseen(record, at: position) ?? false
    try insert(message, as: isUnseen ? .live : .history, with: writer)
    return message.text.utf8.count
  }

  private func insert(
    _ message: Message, as arrival: Arrival, with writer: borrowing StoreWriter
  ) throws(StoreError) {
    guard try writer.insert(message, as: arrival) == .inserted else { return }
    report.messageCount += 1
    current?.savedCount += 1
  }

  /// Rule 2.
  private func isContradicted(_ position: Position, in conversation: UInt32) -> Bool {
    let key = KeyEncoding.key(conversation, position.id)
    var value = ByteBuffer()
    switch source.value(of: key.bytes, in: Schema.ids, to: &value) {
    case .unknown: return false
    case .absent(let lsn): return lsn >= messages.lsn
    case .found(let lsn):
      return lsn >= messages.lsn && value.bytes.place(at: 0)?.place != position.place
    }
  }

  private func message(
    _ position: Position, _ record: MessageRecord, in conversation: ConversationID
  ) -> Message? {
    var text = ByteBuffer(capacity: record.textByteCount)
    guard record.appendText(to: &text)
    else { return nil }
    let place = position.place
    return Message(
      id: position.id, in: conversation, from: names.member(record.sender),
      text: text.bytes.repairedText(),
      localTime: record.localTime(at: place).map { Timestamp(microseconds: $0) },
      serverTimestamp: place.isPending ? nil : Timestamp(microseconds: place.time),
      sequence: place.isPending ? record.pendingSequence : place.sequence,
      status: record.status, replyTo: record.replyTo)
  }

  private func lose(_ reason: String) {
    report.add(
      .init(
        tree: Schema.messages.rawValue, key: messages.key.array(), page: messages.page,
        reason: reason))
  }

  /// Conversations of which nothing but the name is left.
  private func saveEmptyConversations(in store: MessageStore) throws {
    var rest = names.orphanedConversations().sorted { $0.key > $1.key }
    while !rest.isEmpty {
      try store.write(.relaxed) { writer in
        for (number, name) in rest.suffix(Self.batchCount).reversed()
        where try writer.conversation(ConversationID(name)) == nil {
          _ = try begin(number, with: writer)
          current = nil
        }
      }
      rest.removeLast(min(rest.count, Self.batchCount))
    }
  }
}

/// Makes conversations come to the new store when they came to the old one.
private final class CreationClock: Sendable {
  private let time = Locked<Timestamp?>(nil)

  /// nil: now.
  var created: Timestamp? {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  var now: Timestamp { created ?? StoreOptions.systemClock() }
}
