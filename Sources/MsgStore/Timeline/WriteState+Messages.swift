import PageFile

/// Storing, moving and deleting messages, and what each of these does to the summary.
///
/// See docs/message-format.md, E-10 and A-1 … A-4.
extension WriteState {
  func insert(_ message: Message, as arrival: Arrival) throws(StoreError) -> InsertOutcome {
    try Self.validate(message)
    return try change { () throws(StoreError) in
      let conversation = try conversation(message.conversation) {
        ConversationDetails(id: message.conversation)
      }
      guard let place = try reader.place(of: message.id, in: conversation.number) else {
        try add(message, arrival, to: conversation)
        return .inserted
      }
      guard place.isPending, let time = message.serverTimestamp else { return .duplicate }
      try acknowledge(
        Position(place, message.id), in: conversation, time: time, sequence: message.sequence,
        status: message.status)
      return .acknowledged
    }
  }

  private static func validate(_ message: Message) throws(StoreError) {
    try message.id.validate()
    try message.conversation.validate()
    try message.sender.validate()
    try message.replyTo?.validate()
    let byteCount = message.text.utf8.count
    guard byteCount <= TextCompression.textByteCountMax else {
      throw .textTooLong(byteCount: byteCount, limit: TextCompression.textByteCountMax)
    }
  }

  private func add(
    _ message: Message, _ arrival: Arrival, to conversation: OpenConversation
  ) throws(StoreError) {
    hasAdded = true
    let sender = try memberNumber(of: message.sender)
    let position = Position(place(for: message, in: conversation), message.id)
    var text = ByteBuffer(capacity: message.text.utf8.count)
    text.append(message.text)
    var block = ByteBuffer(capacity: 0)
    let isCompressed = TextCompression.compress(text.bytes, to: &block)
    var reply = ByteBuffer(capacity: 0)
    var record = MessageRecord(
      flags: arrival == .history ? .history : [], status: message.status, sender: sender,
      textByteCount: text.count, payload: isCompressed ? block.bytes : text.bytes)
    if isCompressed { record.flags.insert(.compressed) }
    record.setLocalTime(message.localTime?.microseconds, at: position.place)
    if position.place.isPending { record.pendingSequence = message.sequence }
    if let replyTo = message.replyTo {
      reply.append(replyTo)
      record.replyBytes = reply.bytes
      record.flags.insert(.reply)
    }
    if arrival == .live, let mark = conversation.summary.mark, position <= mark {
      record.markOrdinal = conversation.summary.markOrdinal
    }
    try write(record, at: position, in: conversation.number)
    try writeID(position, in: conversation.number)
    var summary = conversation.summary
    summary.messageCount += 1
    if isUnread(record, at: position, summary) { summary.unreadCount += 1 }
    summary.include(position, sender: sender, status: message.status) { message.text }
    conversation.summary = summary
  }

  private func place(for message: Message, in conversation: OpenConversation) -> Place {
    if let time = message.serverTimestamp {
      return .acknowledged(time.microseconds, sequence: message.sequence)
    }
    let time = message.localTime ?? clock()
    defer { conversation.summary.nextLocalOrder += 1 }
    return .pending(time.microseconds, localOrder: conversation.summary.nextLocalOrder)
  }

  func acknowledge(
    _ id: MessageID, in conversation: ConversationID, serverTimestamp: Timestamp,
    sequence: Int64?
  ) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let conversation = try existingConversation(conversation),
        let place = try reader.place(of: id, in: conversation.number)
      else { return false }
      try acknowledge(
        Position(place, id), in: conversation, time: serverTimestamp, sequence: sequence,
        status: .sent)
      return true
    }
  }

  /// Moves a message to the place that the server gave it, or to the better of two such places.
  private func acknowledge(
    _ old: Position, in conversation: OpenConversation, time: Timestamp, sequence: Int64?,
    status: MessageStatus
  ) throws(StoreError) {
    let value = try record(at: old, in: conversation.number)
    var record = try decode(value.bytes, at: old)
    let given = Place.acknowledged(
      time.microseconds, sequence: sequence ?? record.pendingSequence)
    let new = Position(old.place.isPending ? given : old.place.merged(with: given), old.id)
    let newStatus = max(record.status, status, .sent)
    guard new != old || newStatus != record.status else { return }

    var summary = conversation.summary
    let isUnseen = isUnseen(record, at: old, summary)
    record.setLocalTime(record.localTime(at: old.place), at: new.place)
    record.pendingSequence = nil
    record.status = newStatus
    // A move keeps whether a message has been seen, also to a place below the read mark.
    let isBelowMark = summary.mark.map { new <= $0 } ?? false
    record.markOrdinal = isUnseen && isBelowMark ? summary.markOrdinal : nil
    if new != old { try removeKey(old, in: conversation.number) }
    try write(record, at: new, in: conversation.number)
    if new != old { try writeID(new, in: conversation.number) }
    if new == old {
      if summary.last?.position == old { summary.last?.status = newStatus }
    } else {
      try exclude(old, from: &summary, in: conversation.number)
      let sender = record.sender
      let text = try text(of: record, at: new)
      summary.include(new, sender: sender, status: newStatus) { text }
    }
    conversation.summary = summary
  }

  func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let conversation = try existingConversation(conversation),
        let place = try reader.place(of: id, in: conversation.number)
      else { return false }
      let position = Position(place, id)
      let value = try record(at: position, in: conversation.number)
      guard try decode(value.bytes, at: position).status != status else { return true }
      value.mutableBytes[MessageRecord.statusOffset] = status.rawValue
      let key = KeyEncoding.key(conversation.number, position)
      try insert(key.bytes, value.bytes, in: Schema.messages)
      if conversation.summary.last?.position == position {
        conversation.summary.last?.status = status
      }
      return true
    }
  }

  func delete(_ id: MessageID, in conversation: ConversationID) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let conversation = try existingConversation(conversation),
        let place = try reader.place(of: id, in: conversation.number)
      else { return false }
      let position = Position(place, id)
      let value = try record(at: position, in: conversation.number)
      let record = try decode(value.bytes, at: position)
      reader.source.isErasing = true
      try removeKey(position, in: conversation.number)
      let key = KeyEncoding.key(conversation.number, id)
      try remove(key.bytes, in: Schema.ids)
      var summary = conversation.summary
      summary.messageCount = max(0, summary.messageCount - 1)
      if isUnread(record, at: position, summary) {
        summary.unreadCount = max(0, summary.unreadCount - 1)
      }
      try exclude(position, from: &summary, in: conversation.number)
      conversation.summary = summary
      return true
    }
  }
}

/// The trees of messages and ids.
extension WriteState {
  private func write(
    _ record: MessageRecord, at position: Position, in conversation: UInt32
  ) throws(StoreError) {
    let key = KeyEncoding.key(conversation, position)
    var value = ByteBuffer(capacity: record.payload.count + 64)
    record.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.messages)
  }

  private func writeID(_ position: Position, in conversation: UInt32) throws(StoreError) {
    let key = KeyEncoding.key(conversation, position.id)
    var value = ByteBuffer()
    value.append(position.place)
    try insert(key.bytes, value.bytes, in: Schema.ids)
  }

  private func removeKey(_ position: Position, in conversation: UInt32) throws(StoreError) {
    let key = KeyEncoding.key(conversation, position)
    try remove(key.bytes, in: Schema.messages)
  }

  /// The record's own copy of its bytes.
  private func record(
    at position: Position, in conversation: UInt32
  ) throws(StoreError) -> ByteBuffer {
    let key = KeyEncoding.key(conversation, position)
    var value = ByteBuffer(capacity: 256)
    guard try reader.value(of: key.bytes, in: Schema.messages, appendTo: &value) else {
      throw reader.corrupt(Schema.ids, "message \"\(position.id)\" is not at its place")
    }
    return value
  }

  private func decode(_ bytes: Bytes, at position: Position) throws(StoreError) -> MessageRecord {
    guard let record = MessageRecord(bytes) else {
      throw reader.corrupt(Schema.messages, "message \"\(position.id)\" is no record")
    }
    return record
  }

  private func text(of record: MessageRecord, at position: Position) throws(StoreError) -> String {
    var text = ByteBuffer(capacity: record.textByteCount)
    guard record.appendText(to: &text) else {
      throw reader.corrupt(Schema.messages, "message \"\(position.id)\" has no valid text")
    }
    return text.bytes.repairedText()
  }

  /// Takes a message that has left its place out of a summary, looking for what is last now only if
  /// it was the last or the newest one.
  private func exclude(
    _ position: Position, from summary: inout ConversationSummary, in conversation: UInt32
  ) throws(StoreError) {
    guard summary.last?.position == position || summary.activity == position.place.time else {
      return
    }
    guard let last = try reader.lastPosition(upTo: .end, in: conversation) else {
      summary.last = nil
      summary.activity = 0
      return
    }
    summary.activity = last.place.time
    if last.place.isPending,
      let newest = try reader.lastPosition(upTo: .firstPending, in: conversation)
    {
      summary.activity = max(summary.activity, newest.place.time)
    }
    guard summary.last?.position != last else { return }
    let value = try record(at: last, in: conversation)
    let record = try decode(value.bytes, at: last)
    summary.last = ConversationSummary.Last(
      position: last, sender: record.sender, status: record.status,
      text: try text(of: record, at: last))
  }
}

extension ConversationSummary {
  /// Takes a message into account that has come to its place.
  fileprivate mutating func include(
    _ position: Position, sender: UInt32, status: MessageStatus, text: () -> String
  ) {
    activity = last == nil ? position.place.time : max(activity, position.place.time)
    if let last, last.position > position { return }
    last = Last(position: position, sender: sender, status: status, text: text())
  }
}

extension Place {
  /// The place of a message that was acknowledged twice: the smaller one wins, and a sequence that
  /// only one of them has is kept.
  fileprivate func merged(with other: Place) -> Place {
    let smaller = min(self, other)
    return .acknowledged(smaller.time, sequence: smaller.sequence ?? max(self, other).sequence)
  }
}
