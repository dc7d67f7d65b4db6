package import MsgStore
import PageFile

/// Exports of messages, deleted names and waiting facts.
extension StoreSnapshot {
  /// Calls `body` with all messages of a conversation, in their order.
  ///
  /// - Parameter since: The earliest server time of a message, if there is one to begin at.
  package func forEachExportedMessage(
    in id: ConversationID, since: Timestamp? = nil, _ body: (ExportedMessage) throws -> Void
  ) throws {
    guard let (number, summary) = try found(id) else { return }
    let view = view
    let goneUpTo = try within { (view) throws(StoreError) in try view.exports.trimmed(number) }
    let start = since.map(MessagePosition.beginning) ?? .start
    try view.exports.forEachMessage(in: number, from: start) { (key, value) throws(StoreError) in
      guard let position = key.position, let record = MessageRecord(value),
        let message = StoredMessage(record, at: position.place)
      else { throw view.corrupt(Schema.messages, "conversation \"\(id)\": malformed message") }
      // The message was deleted with its conversation and is still to be removed.
      if let goneUpTo, !position.place.isPending, position.place.time <= goneUpTo { return nil }
      return try view.exports.exported(message, at: position, in: id, number, summary)
    } _: {
      try body($0)
    }
  }

  /// Calls `body` with the place of each acknowledged message before a server time.
  package func forEachPlace(
    in id: ConversationID, before time: Timestamp, _ body: (Place) throws -> Void
  ) throws {
    guard let (number, _) = try found(id) else { return }
    try view.exports.forEachPlace(in: number, before: .beginning(time), body)
  }

  /// Returns the place of a message, or nil if it is not there.
  package func place(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Place? {
    guard let (number, _) = try found(conversation) else { return nil }
    return try within { (view) throws(StoreError) in
      try view.ids.position(of: id, in: number)?.place
    }
  }

  /// Returns everything that is stored of a message, or nil if it is not there.
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

  /// Calls `body` with the names of all messages that were deleted for the local member.
  package func forEachDeletedID(
    in id: ConversationID, _ body: (MessageID) throws -> Void
  ) throws {
    guard let (number, _) = try found(id) else { return }
    let prefix = KeyEncoding.key(number)
    let view = view
    try view.exports.forEach(with: prefix, in: Schema.ids) { (key, value) throws(StoreError) in
      let name = MessageID(key)
      guard let entry = IDEntry(name, value) else {
        throw view.corrupt(Schema.ids, "message \"\(name)\": malformed id entry")
      }
      return entry == .deleted ? name : nil
    } _: {
      try body($0)
    }
  }

  /// Calls `body` with the facts of each absent message, in the order in which they began to wait.
  package func forEachWaiting(_ body: (ExportedWaiting) throws -> Void) throws {
    let view = view
    let prefix = WaitingKey.prefix
    try view.exports.forEach(with: prefix, in: Schema.index) { (rest, _) throws(StoreError) in
      guard let (_, number, id) = WaitingKey.parts(behindPrefix: rest),
        let waiting = try view.exports.waitingFacts(of: id, in: number)
      else { throw view.corrupt(Schema.index, "waiting message: entry without waiting facts") }
      // Facts of a deleted message no longer wait.
      guard try view.exports.isStored(number), try view.ids.entry(of: id, in: number) != .deleted
      else { return nil }
      return try view.exports.exported(waiting, of: id, in: number)
    } _: {
      try body($0)
    }
  }

  /// True while conversations are being merged.
  ///
  /// This takes several steps, during which neither conversation alone has all of the contents.
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
      return (number, try view.conversations.summary(number))
    }
  }
}

extension MessagePosition {
  /// Returns the position before all acknowledged messages at a server time or later.
  fileprivate static func beginning(_ time: Timestamp) -> MessagePosition {
    MessagePosition(.acknowledged(time.microseconds, sequence: .min), "")
  }
}

extension ExportReader {
  /// Returns the server time up to which messages of a conversation are still to be removed.
  fileprivate func trimmed(_ number: UInt32) throws(StoreError) -> Int64? {
    var latest: Int64?
    for (_, work) in try view.work.work() where work.conversation == number {
      if case .trim(let time) = work.kind { latest = max(latest ?? time, time) }
    }
    return latest
  }

  /// Returns true if the conversation exists; false for leftovers of a deleted one.
  fileprivate func isStored(_ number: UInt32) throws(StoreError) -> Bool {
    return try view.contains(KeyEncoding.key(number), in: Schema.conversations)
  }

  fileprivate func waitingFacts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> WaitingFacts? {
    let key = FactKey.prefix(conversation, id, .waiting)
    return try view.record(key)
  }
}
