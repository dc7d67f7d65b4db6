package import MsgStore
import PageFile

/// Reading everything, so that it can be restored.
extension StoreSnapshot {
  /// All messages of a conversation in their order.
  package func forEachExportedMessage(
    in id: ConversationID, _ body: (ExportedMessage) throws -> Void
  ) throws {
    guard let (number, summary) = try found(id) else { return }
    let view = view
    let goneUpTo = try within { (view) throws(StoreError) in try view.exports.trimmed(number) }
    try view.exports.forEachMessage(in: number) { (key, value) throws(StoreError) in
      guard let position = key.position, let record = MessageRecord(value),
        let message = StoredMessage(record, at: position.place)
      else { throw view.corrupt(Schema.messages, "a message of \"\(id)\" is no record") }
      // It went with its conversation, and is only still to be removed.
      if let goneUpTo, !position.place.isPending, position.place.time <= goneUpTo { return nil }
      return try view.exports.exported(message, at: position, in: id, number, summary)
    } _: {
      try body($0)
    }
  }

  /// All that is stored of one message; nil when it is not there.
  package func exportedMessage(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> ExportedMessage? {
    guard let (number, summary) = try found(conversation) else { return nil }
    return try within { (view) throws(StoreError) in
      guard let position = try view.ids.position(of: id, in: number) else { return nil }
      let message = try view.messages.message(at: position, in: number)
      return try view.exports.exported(message, at: position, in: conversation, number, summary)
    }
  }

  /// The names of all messages of a conversation that were deleted for the local member.
  package func forEachDeletedID(
    in id: ConversationID, _ body: (MessageID) throws -> Void
  ) throws {
    guard let (number, _) = try found(id) else { return }
    let prefix = KeyEncoding.key(number)
    let view = view
    try view.exports.forEach(with: prefix, in: Schema.ids) { (key, value) throws(StoreError) in
      let name = MessageID(key)
      guard let entry = IDEntry(name, value) else {
        throw view.corrupt(Schema.ids, "the entry of \"\(name)\" is none")
      }
      return entry == .deleted ? name : nil
    } _: {
      try body($0)
    }
  }

  /// What waits for messages that are not here, in the order in which it began to.
  package func forEachWaiting(_ body: (ExportedWaiting) throws -> Void) throws {
    let view = view
    try view.exports.forEach(with: ByteBuffer(), in: Schema.waiting) {
      (_, value) throws(StoreError) in
      guard let number = value.bigEndianNumber(at: 0),
        case let name = value.dropFirst(KeyEncoding.numberByteCount), name.count > 0,
        let waiting = try view.exports.waitingFacts(of: MessageID(name), in: number)
      else { throw view.corrupt(Schema.waiting, "an entry leads to nothing") }
      // Nobody waits any more for what was deleted.
      guard try view.exports.isStored(number),
        try view.ids.entry(of: MessageID(name), in: number) != .deleted
      else { return nil }
      return try view.exports.exported(waiting, of: MessageID(name), in: number)
    } _: {
      try body($0)
    }
  }

  /// Whether conversations are becoming one, which takes several steps: until then what they have is
  /// in neither of them alone.
  package var isMergingConversations: Bool {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in
        try view.work.work().contains { if case .merge = $0.work.kind { true } else { false } }
      }
    }
  }

  private func found(
    _ id: ConversationID
  ) throws(StoreError) -> (number: UInt32, summary: ConversationSummary)? {
    try within { (view) throws(StoreError) in
      guard let number = try view.number(of: id) else {
        return nil
      }
      var cursor = Cursor(view.source, Schema.conversations)
      return (number, try view.conversations.summary(number, &cursor))
    }
  }
}

extension ExportReader {
  /// Up to which server time messages of a conversation are still to be removed.
  fileprivate func trimmed(_ number: UInt32) throws(StoreError) -> Int64? {
    var latest: Int64?
    for (_, work) in try view.work.work() where work.conversation == number {
      if case .trim(let time) = work.kind { latest = max(latest ?? time, time) }
    }
    return latest
  }

  /// Whether there is a conversation of this number, and not only what is left of one.
  fileprivate func isStored(_ number: UInt32) throws(StoreError) -> Bool {
    let key = KeyEncoding.key(number)
    return try view.contains(key.bytes, in: Schema.conversations)
  }

  fileprivate func waitingFacts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> WaitingFacts? {
    let key = FactKey.prefix(conversation, id, .waiting)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.facts, appendTo: &value) else { return nil }
    return WaitingFacts(value.bytes)
  }
}
