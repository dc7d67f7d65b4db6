import PageFile

/// Keeps the index by tags: for each tag of each conversation, the times of the messages that have
/// it, and their number.
///
/// An entry names no message: readers find it among the messages of its time. So a message that
/// gets another name has the same entries. See docs/message-format.md, F-17 … F-22.
///
/// A message without tags costs a search of its text for a link; the tags of another cost a walk or
/// two to their keys.
struct Tags: TransactionPart {
  let transaction: Transaction

  /// Enters the tags of a message that was inserted.
  func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try update(from: nil, to: entries(of: message, at: position, in: conversation))
  }

  /// Updates the entries of a message that was replaced, possibly at another place.
  func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    let before = entries(of: old, at: oldPosition, in: conversation)
    var after = entries(of: new, at: position, in: conversation)
    if let before, let given = after {
      if StoreDefect.movedTagsKept.isPlanted { after?.moment = before.moment }
      if before.tags == given.tags, before.moment == given.moment { return }
    }
    try update(from: before, to: after)
  }

  /// Removes the entries of a message that was removed from its place.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try update(from: entries(of: message, at: position, in: conversation), to: nil)
  }

  /// Enters a message of which nothing is known but that its text has a link.
  func insertedLink(
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try update(from: nil, to: (conversation, .link, ThreadMoment(position.place)))
  }

  /// Returns what the entries of a message follow from, or nil if it has none.
  @inline(__always)
  private func entries(
    of message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) -> TagKey.Record? {
    let tags = message.shownTags(for: localMember)
    return tags.isEmpty ? nil : (conversation, tags, ThreadMoment(position.place))
  }

  @inline(__always)
  private func update(
    from old: TagKey.Record?, to new: TagKey.Record?
  ) throws(StoreError) {
    if old == nil, new == nil { return }
    if StoreDefect.tagCountKept.isPlanted { return try updateEntriesAlone(from: old, to: new) }
    try transaction.update(TagKey.self, from: old, to: new)
  }

  /// Does not lower the numbers of messages: a planted defect.
  private func updateEntriesAlone(
    from old: TagKey.Record?, to new: TagKey.Record?
  ) throws(StoreError) {
    var cells = memory.takeCells()
    try cells.change(TagKey.self, from: old, to: new)
    for index in (0..<cells.count).reversed() {
      if case .count(-1) = cells.action(index), case .count? = TagKey.parts(cells.key(index)) {
        cells.drop(index)
      }
    }
    try transaction.apply(&cells, in: Schema.index)
    memory.giveBack(cells)
  }
}

extension Transaction {
  var tags: Tags { Tags(transaction: self) }
}

extension Tags {
  /// Removes what all conversations have of an entry of one of them that is about to be removed.
  ///
  /// Does nothing for other cells of the tree.
  func unlist(_ key: Bytes) throws(StoreError) {
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
    try transaction.apply(&cells, in: Schema.index)
    memory.giveBack(cells)
    transaction.noteSettingChange()
  }

  /// Enters the messages of a conversation that mention the local member, who has become known.
  ///
  /// Reads the whole thread. May be repeated, after an opening that was not finished.
  func enterMentions(of conversation: UInt32) throws(StoreError) {
    guard let localMember else { return }
    let prefix = TagKey.count(conversation, UInt8(TagSet.mention.rawValue.trailingZeroBitCount))
    _ = try transaction.removeAll(prefix.bytes, in: Schema.index)
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
      try update(from: nil, to: (conversation, .mention, ThreadMoment(position.place)))
    }
  }
}
