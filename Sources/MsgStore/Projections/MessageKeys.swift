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

  private func change(
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

  /// Enters the messages of a conversation that mention the local member, who has become known.
  ///
  /// Reads the whole thread. May be repeated, after an opening that was not finished.
  func enterMentions(of conversation: UInt32) throws(StoreError) {
    guard let localMember else { return }
    let prefix = TagKey.count(conversation, UInt8(TagSet.mention.rawValue.trailingZeroBitCount))
    _ = try removeAll(prefix.bytes, in: Schema.index)
    var found: [MessagePosition] = []
    var scan = try ThreadScan(flushed(), conversation, after: .start)
    while let record = try scan.next() {
      guard record.flags.contains(.traits) else { continue }
      guard let traits = record.traits() else {
        throw view.corrupt(Schema.messages, "tags: malformed traits")
      }
      if !traits.isRetracted, !traits.isLetGo, traits.mentions.contains(localMember) {
        found.append(try scan.position())
      }
    }
    for position in found {
      try change(nil, to: TagKey.Record(conversation, .mention, ThreadMoment(position.place)))
    }
  }

  /// Removes what all conversations have of a tag's key of one of them that is about to be removed.
  ///
  /// Does nothing for other cells of the tree.
  func unlistEverywhere(_ key: Bytes) throws(StoreError) {
    guard case .entry(let conversation, let tag, let moment) = TagKey.parts(key),
      TagSet(number: tag).isSubset(of: .everywhere)
    else { return }
    // An acknowledged and a pending message of one time are in one entry.
    let other = TagKey.everywhere(tag, moment.time, conversation)
    var value = ByteBuffer(capacity: 16)
    guard try view.value(of: other.bytes, in: Schema.index, appendTo: &value) else { return }
    guard let count = CellCount.decode(value.bytes) else {
      throw view.corrupt(Schema.index, "malformed entry (\(value.count) bytes)")
    }
    let sum = TagKey.count(TagKey.allConversations, tag)
    var cells = memory.takeCells()
    cells.appendRemoval(of: other.bytes)
    cells.appendCount(-Int(count), of: sum.bytes)
    try apply(&cells, in: Schema.index)
    memory.giveBack(cells)
    noteSettingChange()
  }
}
