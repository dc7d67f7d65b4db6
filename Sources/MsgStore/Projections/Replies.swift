import PageFile

/// Keeps the replies tree: for each message that was answered, the times of its replies.
///
/// An entry names a conversation, the digest of the answered name, and a time. It does not name the
/// reply: readers find it among the messages of that time. So a message that gets another name has
/// the same entries, and readers look under all its names. See docs/message-format.md, F-14 … F-16.
///
/// Costs nothing for a message that is no reply, else one insertion, or one lookup and one removal.
struct Replies: TransactionPart {
  let transaction: Transaction

  /// Enters a message that was inserted, if it is a reply.
  func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    guard let entry = replyEntry(of: message, at: position) else { return }
    try enter(entry, in: conversation)
  }

  /// Updates the entry of a message that was replaced, possibly at another place.
  func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    guard old.replyTo != nil || new.replyTo != nil else { return }
    let before = replyEntry(of: old, at: oldPosition)
    let after = replyEntry(of: new, at: position)
    if before == after || StoreDefect.movedReplyKept.isPlanted { return }
    if let before { try remove(before, from: conversation) }
    if let after { try enter(after, in: conversation) }
  }

  /// Removes the entry of a message that was removed from its place.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    guard let entry = replyEntry(of: message, at: position) else { return }
    try remove(entry, from: conversation)
  }

  /// An entry without its conversation.
  struct Entry: Equatable {
    let digest: UInt32
    let moment: ThreadMoment

    init(_ answered: MessageID, _ place: Place) {
      digest = ReplyKey.digest(of: answered)
      moment = ThreadMoment(place)
    }
  }

  /// Returns the entry that a message has.
  ///
  /// A message has none if it is no reply.
  @inline(__always)
  private func replyEntry(of message: StoredMessage, at position: MessagePosition) -> Entry? {
    guard message.replyTo != nil, let answered = message.shownReply else { return nil }
    return Entry(answered, position.place)
  }

  /// Counts one more reply.
  func enter(_ entry: Entry, in conversation: UInt32) throws(StoreError) {
    let key = ReplyKey.key(conversation, entry.digest, entry.moment)
    // Hardly ever are there two at one time.
    let wasThere = try storage { () throws(PageFileError) in
      try BTree(view.source, Schema.replies).insertIfAbsent(key.bytes)
    }
    guard wasThere else { return }
    guard let count = try count(at: key) else {
      throw view.corrupt(Schema.replies, "missing entry")
    }
    try set(count + 1, at: key)
  }

  private func remove(_ entry: Entry, from conversation: UInt32) throws(StoreError) {
    let key = ReplyKey.key(conversation, entry.digest, entry.moment)
    guard let count = try count(at: key) else {
      throw view.corrupt(Schema.replies, "missing entry")
    }
    if count == 1 || StoreDefect.replyCountKept.isPlanted {
      try transaction.remove(key, in: Schema.replies)
    } else {
      try set(count - 1, at: key)
    }
  }

  /// Returns the number of replies under a key, or nil if it has no entry.
  private func count(at key: borrowing ByteBuffer) throws(StoreError) -> UInt64? {
    var value = ByteBuffer(capacity: 0)
    guard try view.value(of: key.bytes, in: Schema.replies, appendTo: &value) else { return nil }
    guard let count = ReplyKey.count(value.bytes) else {
      throw view.corrupt(Schema.replies, "malformed count (\(value.count) bytes)")
    }
    return count
  }

  private func set(_ count: UInt64, at key: borrowing ByteBuffer) throws(StoreError) {
    var value = ByteBuffer(capacity: 0)
    ReplyKey.append(count: count, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.replies)
  }
}

extension Transaction {
  var replies: Replies { Replies(transaction: self) }
}
