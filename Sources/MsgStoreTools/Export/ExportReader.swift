import MsgStore
import PageFile

/// A reader of messages, facts and other records in their exported form.
struct ExportReader {
  let view: StoreView

  /// The number of places read at once.
  private static let placeBatchCount = 2000
  /// The number of values made at once.
  static let batchCount = 200

  /// Makes values from the cells whose keys have a prefix, in order, and passes them to `body`.
  ///
  /// The values are made in batches, so no page stays in use while `body` runs.
  ///
  /// - Parameter make: Makes a value from the rest of the key behind the prefix and the cell's
  ///   value; nil skips the cell.
  func forEach<Value>(
    with prefix: borrowing ByteBuffer, in tree: TreeNumber,
    make: (_ rest: Bytes, _ value: Bytes) throws(StoreError) -> Value?,
    _ body: (Value) throws -> Void
  ) throws {
    var next = ByteBuffer()
    next.append(prefix.bytes)
    var values: [Value] = []
    repeat {
      values.removeAll(keepingCapacity: true)
      let start = next.bytes.array()
      next.removeAll()
      try view.within { () throws(StoreError) in
        var cursor = Cursor(view.source, tree)
        var key = ByteBuffer()
        key.append(start)
        var value = ByteBuffer()
        try storage { () throws(PageFileError) in
          if key.count == 0 { _ = try cursor.first() } else { _ = try cursor.seek(key.bytes) }
        }
        while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
          key.removeAll()
          cursor.appendKey(to: &key)
          guard values.count < Self.batchCount else {
            next.append(key.bytes)
            return
          }
          value.removeAll()
          try view.append(cursor, to: &value)
          if let made = try make(key.bytes.dropFirst(prefix.count), value.bytes) {
            values.append(made)
          }
          try storage { () throws(PageFileError) in _ = try cursor.next() }
        }
      }
      for value in values { try body(value) }
    } while next.count > 0
  }

  /// Makes values from the messages of a conversation, as if each had a cell of its own.
  ///
  /// - Parameter start: The position at which to begin.
  func forEachMessage<Value>(
    in conversation: UInt32, from start: MessagePosition = .start,
    make: (_ position: Bytes, _ record: Bytes) throws(StoreError) -> Value?,
    _ body: (Value) throws -> Void
  ) throws {
    let first = KeyEncoding.key(conversation, start)
    var record = ByteBuffer()
    try forEachBatch(of: Self.batchCount, in: conversation, from: first.bytes.array()) {
      (cursor, position) throws(StoreError) in
      record.removeAll()
      try cursor.appendRecord(to: &record)
      return .made(try make(position, record.bytes))
    } body: {
      try body($0)
    }
  }

  /// Calls `body` with the place of each message of a conversation before a position.
  ///
  /// Of segments only the places and names are unpacked.
  func forEachPlace(
    in conversation: UInt32, before end: MessagePosition, _ body: (Place) throws -> Void
  ) throws {
    let first = KeyEncoding.key(conversation)
    let end = KeyEncoding.key(conversation, end)
    let last = end.bytes.dropFirst(first.count).array()
    try forEachBatch(of: Self.placeBatchCount, in: conversation, from: first.bytes.array()) {
      (_, position) throws(StoreError) in
      if Bytes.with(last, { position.compare(to: $0) >= 0 }) { return .end }
      guard let (place, _) = position.place(at: 0) else {
        throw view.corrupt(Schema.messages, "key does not decode to a position")
      }
      return .made(place)
    } body: {
      try body($0)
    }
  }

  /// The result of a look at one message.
  private enum Look<Value> {
    /// A value, or nil if the message is passed over.
    case made(Value?)
    case end
  }

  /// Makes values from the messages of a conversation, and runs `body` on them between two reads.
  ///
  /// - Parameter count: The number of values that are made in one read.
  private func forEachBatch<Value>(
    of count: Int, in conversation: UInt32, from start: [UInt8],
    make: (inout MessageCursor, _ position: Bytes) throws(StoreError) -> Look<Value>,
    body: (Value) throws -> Void
  ) throws {
    let prefix = KeyEncoding.key(conversation)
    var next = start
    var values: [Value] = []
    repeat {
      values.removeAll(keepingCapacity: true)
      let start = next
      next = []
      try view.within { () throws(StoreError) in
        var cursor = MessageCursor(view)
        var key = ByteBuffer()
        key.append(start)
        _ = try cursor.seek(key.bytes)
        while cursor.isAtMessage, cursor.isIn(prefix.bytes) {
          key.removeAll()
          try cursor.appendKey(to: &key)
          guard values.count < count else {
            next = key.bytes.array()
            return
          }
          switch try make(&cursor, key.bytes.dropFirst(prefix.count)) {
          case .made(let value?): values.append(value)
          case .made(nil): break
          case .end: return
          }
          _ = try cursor.next()
        }
      }
      for value in values { try body(value) }
    } while !next.isEmpty
  }

  /// Returns everything that is stored of a message.
  func exported(
    _ message: StoredMessage, at position: MessagePosition, in id: ConversationID,
    _ conversation: UInt32,
    _ summary: ConversationSummary
  ) throws(StoreError) -> ExportedMessage {
    var exported = try ExportedMessage(
      message, at: position, in: id, mark: summary.mark.map { ($0, summary.markOrdinal) },
      member: view.member)
    let hasFacts = !message.traits.marks.isDisjoint(with: MessageTraits.Bits.facts)
    if hasFacts || position.place.isPending {
      exported.facts = try facts(of: exported.id, in: conversation)
      exported.facts.ownFields = []
    }
    exported.own = try view.facts.whole(exported.own, of: exported.id, in: conversation)
    return exported
  }

  /// Returns everything that waits for a message.
  func exported(
    _ waiting: WaitingFacts, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ExportedWaiting {
    ExportedWaiting(
      waiting, try facts(of: id, in: conversation), of: id,
      in: try view.conversations.details(conversation).id)
  }

  /// Returns the facts of a message, whether it is here or waited for.
  private func facts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ExportedFacts {
    var facts = ExportedFacts()
    let prefix = FactKey.prefix(conversation, id)
    try view.facts.forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard try facts.take(rest, value, member: view.member, tag: view.tags.tag) else {
        throw view.corrupt(Schema.facts, "message \"\(id)\": malformed fact")
      }
    }
    facts.sort()
    return facts
  }
}

extension StoreView {
  var exports: ExportReader { ExportReader(view: self) }
}
