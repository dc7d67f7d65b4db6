import PageFile

/// What still has to go to the server.
///
/// See docs/message-format.md, V-6, V-7 and V-9.
///
/// A mark tells of everything between what was confirmed and itself, but for two sorts of messages
/// that have an entry each under their names: those that were marked by name, and those that came to
/// lie below the mark after it was made. An entry says from which ordinal on it is due: an own mark
/// is at once, a late message from the next mark on.
extension StoreReader {
  /// The mark of the local member that the server knows of.
  func told(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> Position? {
    switch kind {
    case .read: return summary.toldMark
    case .delivered:
      guard let localMember else { return nil }
      return try receipts(of: localMember, in: conversation).mark(.delivered)
    }
  }

  /// The range of a mark that the server does not know of; nil where there is none.
  func pendingRange(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary,
    _ own: ConversationReceipts
  ) throws(StoreError) -> (after: Position?, upTo: Position)? {
    guard let mark = kind == .read ? summary.mark : own.deliveredMark else { return nil }
    let after = latest(own.confirmed(kind), try told(kind, conversation, summary))
    if let after, mark <= after { return nil }
    return (after, mark)
  }

  /// Runs `body` on the messages to be told by their names, by the bytes of their names, until it
  /// returns false.
  func forEachExact(
    _ kind: ReceiptKind, _ conversation: UInt32,
    _ body: (MessageID, _ ordinal: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let prefix = ReceiptKey.exact(conversation, kind)
    try forEachCell(with: prefix, in: Schema.receipts) { (key, value) throws(StoreError) in
      var reader = ByteReader(value)
      guard case .exact(_, _, let id)? = ReceiptKey.parts(key), let ordinal = reader.varint(),
        reader.isAtEnd
      else {
        throw corrupt(Schema.receipts, "conversation \(conversation) has what is no message")
      }
      return try body(id, ordinal)
    }
  }

  /// The messages that are due to be told by their names.
  func dueExact(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary,
    _ own: ConversationReceipts, countMax: Int = .max
  ) throws(StoreError) -> [MessageID] {
    let ordinal = kind == .read ? summary.markOrdinal : own.deliveredOrdinal
    var due: [MessageID] = []
    try forEachExact(kind, conversation) { (id, first) throws(StoreError) in
      if first <= ordinal { due.append(id) }
      return due.count < countMax
    }
    return due
  }

  func pendingReceipts(
    in id: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form
  ) throws(StoreError) -> [PendingReceipt] {
    try form.validate()
    guard let (number, id) = try find(id) else { return [] }
    var cursor = Cursor(source, Schema.conversations)
    return try pendingReceipts(
      kind, of: number, id, try summary(number, &cursor), try receipts(number), as: form)
  }

  func pendingReceipts(
    _ kind: ReceiptKind, of number: UInt32, _ id: ConversationID, _ summary: ConversationSummary,
    _ own: ConversationReceipts, as form: PendingReceipt.Form
  ) throws(StoreError) -> [PendingReceipt] {
    try form.validate()
    guard own.isListed(kind) else { return [] }
    let range = try pendingRange(kind, number, summary, own)
    // The server knows a message by the name in its key.
    var due: [(id: MessageID, position: Position?)] = []
    for id in try dueExact(kind, number, summary, own) {
      let position = try position(of: id, in: number)
      due.append((position?.id ?? id, position))
    }
    var batches = Batches(id, kind, form)
    switch form {
    case .mark:
      let uncovered = due.filter { message in
        guard let range, let position = message.position else { return true }
        return position > range.upTo
      }
      batches.add(range: range, uncovered.map(\.id))
    case .ids:
      batches.add(range: nil, due.map(\.id))
      guard let range else { break }
      batches.begin(range)
      try forEachOfRange(kind, range, number) { (position, _) in batches.add(position) }
      batches.end()
    }
    return batches.finished
  }

  /// Whether something was marked that the server does not know of.
  func hasUntold(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary,
    _ own: ConversationReceipts
  ) throws(StoreError) -> Bool {
    if try pendingRange(kind, conversation, summary, own) != nil { return true }
    return try !dueExact(kind, conversation, summary, own, countMax: 1).isEmpty
  }

  /// The own names of the messages that a range tells of.
  func idsOfRange(
    _ kind: ReceiptKind, _ range: (after: Position?, upTo: Position), in conversation: UInt32
  ) throws(StoreError) -> [MessageID] {
    var ids: [MessageID] = []
    try forEachOfRange(kind, range, conversation) { (position, record) in
      ids.append(record.id(at: position))
    }
    return ids
  }

  /// Runs `body` on the messages of a range that have no entry of their own: none of the local
  /// member's, of history, marked by name, or late.
  private func forEachOfRange(
    _ kind: ReceiptKind, _ range: (after: Position?, upTo: Position), _ conversation: UInt32,
    _ body: (Position, MessageRecord) -> Void
  ) throws(StoreError) {
    var scan = try ThreadScan(self, conversation, after: range.after ?? .start)
    while let record = try scan.next() {
      let position = try scan.position()
      guard position <= range.upTo else { return }
      if record.sender == localMember || record.flags.contains(.history) { continue }
      switch kind {
      case .read:
        if record.marks.contains(.seen) || record.markOrdinal != nil { continue }
      case .delivered:
        let id = record.id(at: position)
        let key = ReceiptKey.exact(conversation, kind, id)
        if try contains(key.bytes, in: Schema.receipts) { continue }
        if let localMember, record.marks.contains(.receipts) {
          let fact = FactKey.key(conversation, id, .receipt, member: localMember)
          if try contains(fact.bytes, in: Schema.facts) { continue }
        }
      }
      body(position, record)
    }
  }

  /// Conversations with something to tell, by their numbers.
  func conversationsWithPendingReceipts(
    _ kind: ReceiptKind, countMax: Int
  ) throws(StoreError) -> [ConversationID] {
    guard countMax >= 1 else { throw .invalidCount(countMax) }
    var found: [ConversationID] = []
    let prefix = ReceiptKey.pending(kind)
    try forEachCell(with: prefix, in: Schema.receipts) { (key, _) throws(StoreError) in
      guard case .pending(_, let number)? = ReceiptKey.parts(key) else {
        throw corrupt(Schema.receipts, "the list of what is to be told has no conversation")
      }
      found.append(try details(number).id)
      return found.count < countMax
    }
    return found
  }
}

extension MessageRecord {
  /// The message's own name.
  fileprivate func id(at position: Position) -> MessageID {
    traits()?.names.first ?? position.id
  }
}

extension PendingReceipt.Form {
  fileprivate func validate() throws(StoreError) {
    if case .ids(let count) = self, !(1...PendingReceipt.idCountMax).contains(count) {
      throw .invalidCount(count)
    }
  }
}

/// Cuts what is to be told into what is sent at once.
private struct Batches {
  private let conversation: ConversationID
  private let kind: ReceiptKind
  private let form: PendingReceipt.Form
  private var range: (after: Position?, upTo: Position)?
  private var ids: [MessageID] = []
  private var last: Position?
  private(set) var finished: [PendingReceipt] = []

  init(_ conversation: ConversationID, _ kind: ReceiptKind, _ form: PendingReceipt.Form) {
    self.conversation = conversation
    self.kind = kind
    self.form = form
  }

  private var countMax: Int {
    if case .ids(let count) = form { count } else { PendingReceipt.idCountMax }
  }

  private mutating func finish(_ after: Position?, _ upTo: Position?, _ ids: [MessageID]) {
    finished.append(
      PendingReceipt(
        conversation: conversation, kind: kind, after: after, upTo: upTo, ids: ids,
        isMark: form == .mark))
  }

  /// Names, the first of them together with a range.
  mutating func add(range: (after: Position?, upTo: Position)?, _ ids: [MessageID]) {
    var rest = ids[...]
    if let range {
      finish(range.after, range.upTo, Array(rest.prefix(countMax)))
      rest = rest.dropFirst(countMax)
    }
    while !rest.isEmpty {
      finish(nil, nil, Array(rest.prefix(countMax)))
      rest = rest.dropFirst(countMax)
    }
  }

  mutating func begin(_ range: (after: Position?, upTo: Position)) { self.range = range }

  mutating func add(_ position: Position) {
    if ids.count == countMax, let last {
      finish(range?.after, last, ids)
      range?.after = last
      ids = []
    }
    ids.append(position.id)
    last = position
  }

  mutating func end() { if let range { finish(range.after, range.upTo, ids) } }
}
