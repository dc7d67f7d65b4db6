import PageFile

/// Keeps the expiry tree: for each time at which messages expire, their moments in their threads.
///
/// An entry names no message, as those of tags do not. Readers find it among the messages of its
/// moment.
/// See docs/message-format.md, F-24 … F-28.
///
/// Costs nothing for a message that does not expire, else two lookups or changes of the tree.
struct Expiries: TransactionPart {
  let transaction: Transaction

  /// Returns true unless `mark` leaves a message as it is, wherever it lies.
  @inline(__always)
  static func concern(_ message: StoredMessage) -> Bool {
    message.traits.expiryTime != nil || message.traits.marks.contains(.expired)
  }

  /// Sets the mark of a message that counters and lists have let go.
  ///
  /// It follows from its entry alone, so messages may be merged and moved without regard to it.
  func mark(
    _ message: inout StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    let entry = ExpiryKey(of: message.traits, at: position, in: conversation)
    if let entry, let reached = try reached, reached.isBehind(entry, position),
      !StoreDefect.expiredCounted.isPlanted
    {
      message.traits.marks.insert(.expired)
    } else {
      message.traits.marks.remove(.expired)
    }
  }

  /// True if the counters have let any messages go.
  var haveLetGo: Bool {
    get throws(StoreError) {
      if let known = memory.expiryReached?.hasBorder { return known }
      return try reached != nil
    }
  }

  /// The border of the messages that the counters have let go; nil if they count all.
  var reached: ExpiryBorder? {
    get throws(StoreError) {
      if let known = memory.expiryReached { return known.border }
      let border = try view.expiry.reached()
      memory.expiryReached = KnownExpiry(border: border)
      return border
    }
  }

  /// Notes up to where the counters have let messages go.
  func setReached(_ reached: ExpiryBorder?) throws(StoreError) {
    let old = try self.reached
    if old == reached { return }
    let key = ExpiryKey.reachedKey
    if let reached {
      let value = reached.encoded
      try transaction.insert(key.bytes, value.bytes, in: Schema.expiry)
    } else {
      try transaction.remove(key, in: Schema.expiry)
    }
    memory.expiryReached = KnownExpiry(border: reached)
  }

  /// Changes the number of messages of an entry.
  func change(_ entry: ExpiryKey, by difference: Int) throws(StoreError) {
    if let known = memory.expiryErasure, entry <= known.passed { memory.expiryErasure = nil }
    // The new one may lie before the place that the step has come to.
    if difference > 0, memory.begunErasure?.entry == entry { memory.begunErasure = nil }
    transaction.noteSettingChange()
    try transaction.update(
      ExpiryKey.self, from: difference < 0 ? entry : nil, to: difference > 0 ? entry : nil)
    // A store without an expiring message has an empty tree, which readers notice at once.
    if difference < 0, try view.expiry.first() == nil { try setReached(nil) }
  }

  /// Removes the entries of the messages of a cell of the messages tree that is about to be removed
  /// with its conversation.
  ///
  /// A malformed cell has none: nobody can tell what it had.
  func unlist(_ key: Bytes) throws(StoreError) {
    if view.expiry.isUnused { return }
    var value = ByteBuffer(capacity: 256)
    guard try view.value(of: key, in: Schema.messages, appendTo: &value) else { return }
    var found: [ExpiryKey] = []
    do throws(StoreError) {
      if Segment.isSegment(value.bytes) {
        var cursor = MessageCursor(view)
        var isThere = try cursor.seek(key)
        while isThere, cursor.isAtMessage, cursor.isPacked {
          if let entry = try expiryKey(at: &cursor) { found.append(entry) }
          if try cursor.isAtEndOfSegment() { break }
          isThere = try cursor.next()
        }
      } else {
        var cursor = MessageCursor(view)
        if try cursor.seek(key), let entry = try expiryKey(at: &cursor) { found.append(entry) }
      }
    } catch .corruptRecord {}
    for entry in found {
      if try view.expiry.count(entry) > 0 { try change(entry, by: -1) }
    }
  }

  private func expiryKey(at cursor: inout MessageCursor) throws(StoreError) -> ExpiryKey? {
    var key = ByteBuffer(capacity: 64)
    var value = ByteBuffer(capacity: 256)
    try cursor.appendKey(to: &key)
    guard let record = try cursor.record(&value), let time = record.expiryTime,
      let conversation = key.bytes.bigEndianNumber(at: 0),
      let moment = ThreadMoment(key.bytes, at: KeyEncoding.numberByteCount)
    else { return nil }
    return ExpiryKey(time: time, conversation: conversation, moment)
  }
}

extension ExpiryKey {
  /// The entry of a message; nil if it does not expire.
  init?(of traits: MessageTraits, at position: MessagePosition, in conversation: UInt32) {
    guard let time = traits.expiryTime else { return nil }
    self.init(time: time, conversation: conversation, ThreadMoment(position.place))
  }
}

extension Transaction {
  var expiries: Expiries { Expiries(transaction: self) }
}
