import PageFile

/// The keys by which a message is found beside its place: under the name that it answers, under its
/// tags, and by the time at which it expires.
///
/// They follow from the message and its moment alone, and do not name it: readers find it among the
/// messages of its moment. So a message that gets another name has the same keys. See
/// docs/message-format.md, F-14 … F-28.
///
/// A message without keys costs a search of its text for a link; the keys of another cost a walk
/// each.
struct MessageKeys {
  var reply: ReplyKey.Record?
  var tags: TagKey.Record?
  var expiry: ExpiryKey?

  /// Creates the keys of no message.
  init() {}

  @inline(__always)
  init(
    of message: StoredMessage, at position: MessagePosition, in conversation: UInt32,
    for localMember: UInt32?
  ) {
    if message.replyTo != nil, let answered = message.shownReply {
      reply = ReplyKey.Record(answered, position.place, in: conversation)
    }
    let shown = message.shownTags(for: localMember)
    if !shown.isEmpty { tags = TagKey.Record(conversation, shown, ThreadMoment(position.place)) }
    expiry = ExpiryKey(of: message.traits, at: position, in: conversation)
  }
}

extension Transaction {
  /// Changes the keys of a message.
  func change(_ old: MessageKeys, to new: MessageKeys) throws(StoreError) {
    if old.reply != new.reply { try change(old.reply, to: new.reply) }
    if old.tags != new.tags { try change(old.tags, to: new.tags) }
    if old.expiry == new.expiry { return }
    // The new one first: the border goes with the last entry, and the new mark follows from it.
    if let entry = new.expiry { try expiries.change(entry, by: 1) }
    if let entry = old.expiry { try expiries.change(entry, by: -1) }
  }

  private func change(
    _ old: ReplyKey.Record?, to new: ReplyKey.Record?
  ) throws(StoreError) {
    guard StoreDefect.replyCountKept.isPlanted, let old, new == nil else {
      return try update(ReplyKey.self, from: old, to: new)
    }
    try ReplyKey.forEachKey(of: old) { (key) throws(StoreError) in
      try remove(key.bytes, in: Schema.index)
    }
  }

  func change(
    _ old: TagKey.Record?, to new: TagKey.Record?
  ) throws(StoreError) {
    guard StoreDefect.tagCountKept.isPlanted else {
      return try update(TagKey.self, from: old, to: new)
    }
    var cells = memory.takeCells()
    try cells.change(TagKey.self, from: old, to: new)
    for index in (0..<cells.count).reversed() {
      if case .count(-1) = cells.action(index), case .count? = TagKey.parts(cells.key(index)) {
        cells.drop(index)
      }
    }
    try apply(&cells, in: Schema.index)
    memory.giveBack(cells)
  }

  /// Enters a message of which nothing is known but that its text has a link.
  func enterLink(at position: MessagePosition, in conversation: UInt32) throws(StoreError) {
    try change(nil, to: TagKey.Record(conversation, .link, ThreadMoment(position.place)))
  }
}
