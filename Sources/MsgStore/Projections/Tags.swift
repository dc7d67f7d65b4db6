import PageFile

/// Keeps the tags tree: for each tag of each conversation, the times of the messages that have it,
/// and their number.
///
/// An entry names no message: readers find it among the messages of its time. So a message that
/// gets another name has the same entries. See docs/message-format.md, F-17 … F-22.
///
/// A message without tags costs a search of its text for a link; each tag that changes costs four
/// lookups or changes of the tree.
struct Tags: TransactionPart {
  let transaction: Transaction

  /// Enters the tags of a message that was inserted.
  func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try change(message.shownTags(for: localMember), at: position, in: conversation, by: 1)
  }

  /// Updates the entries of a message that was replaced, possibly at another place.
  func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    let before = old.shownTags(for: localMember)
    let after = new.shownTags(for: localMember)
    if before.isEmpty, after.isEmpty { return }
    let isMoved = ThreadMoment(oldPosition.place) != ThreadMoment(position.place)
    let isKept = !isMoved || StoreDefect.movedTagsKept.isPlanted
    let kept = isKept ? before.intersection(after) : []
    try change(before.subtracting(kept), at: oldPosition, in: conversation, by: -1)
    try change(after.subtracting(kept), at: position, in: conversation, by: 1)
  }

  /// Removes the entries of a message that was removed from its place.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try change(message.shownTags(for: localMember), at: position, in: conversation, by: -1)
  }

  /// Enters a message of which nothing is known but that its text has a link.
  func insertedLink(
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try change(.link, at: position, in: conversation, by: 1)
  }

  @inline(__always)
  private func change(
    _ tags: TagSet, at position: MessagePosition, in conversation: UInt32, by difference: Int
  ) throws(StoreError) {
    if tags.isEmpty { return }
    try changeEntries(of: tags, at: ThreadMoment(position.place), in: conversation, by: difference)
  }

  /// Enters messages that have tags at a moment, or removes them.
  @inline(never)
  func changeEntries(
    of tags: TagSet, at moment: ThreadMoment, in conversation: UInt32, by difference: Int
  ) throws(StoreError) {
    try tags.forEach { (tag) throws(StoreError) in
      try changeEntry(TagKey.entryKey(conversation, tag, moment), by: difference)
      try changeCount(of: tag, in: conversation, by: difference)
      guard TagSet(number: tag).isSubset(of: .everywhere) else { return }
      try changeEntry(TagKey.everywhere(tag, moment.time, conversation), by: difference)
      try changeCount(of: tag, in: TagKey.allConversations, by: difference)
    }
  }

  private func changeCount(
    of tag: UInt8, in conversation: UInt32, by difference: Int
  ) throws(StoreError) {
    if difference < 0, StoreDefect.tagCountKept.isPlanted { return }
    let count = try view.tags.count(tag, in: conversation) + difference
    let key = TagKey.count(conversation, tag)
    if count < 0 { throw view.corrupt(Schema.tags, "count below the number of messages") }
    if count == 0 { return try transaction.remove(key, in: Schema.tags) }
    var value = ByteBuffer(capacity: 16)
    value.append(varint: min(UInt64(count), TagKey.maximumCount))
    try transaction.insert(key.bytes, value.bytes, in: Schema.tags)
  }

  /// Changes the number of messages under one key.
  private func changeEntry(
    _ key: borrowing ByteBuffer, by difference: Int
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: 16)
    var count: UInt64 = 0
    if try view.value(of: key.bytes, in: Schema.tags, appendTo: &value) {
      guard let known = TagKey.messageCount(value.bytes) else {
        throw view.corrupt(Schema.tags, "malformed entry (\(value.count) bytes)")
      }
      count = known
    }
    if difference < 0, count == 0 { throw view.corrupt(Schema.tags, "missing entry") }
    count = difference < 0 ? count - 1 : min(count + 1, TagKey.maximumCount)
    if count == 0 { return try transaction.remove(key, in: Schema.tags) }
    value.removeAll()
    TagKey.append(messageCount: count, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.tags)
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
    guard try view.value(of: other.bytes, in: Schema.tags, appendTo: &value) else { return }
    guard let count = TagKey.messageCount(value.bytes), let difference = Int(exactly: count) else {
      throw view.corrupt(Schema.tags, "malformed entry (\(value.count) bytes)")
    }
    try transaction.remove(other, in: Schema.tags)
    try changeCount(of: tag, in: TagKey.allConversations, by: -difference)
    transaction.noteSettingChange()
  }

  /// Enters the messages of a conversation that mention the local member, who has become known.
  ///
  /// Reads the whole thread. May be repeated, after an opening that was not finished.
  func enterMentions(of conversation: UInt32) throws(StoreError) {
    guard let localMember else { return }
    let prefix = TagKey.count(conversation, UInt8(TagSet.mention.rawValue.trailingZeroBitCount))
    _ = try transaction.removeAll(prefix.bytes, in: Schema.tags)
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
      try change(.mention, at: position, in: conversation, by: 1)
    }
  }
}
