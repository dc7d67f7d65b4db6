import PageFile

/// The tags that somebody has set on messages, kept as facts.
///
/// See docs/message-format.md, F-21.
extension MessageUpdates {
  /// Merges a tag that was set or removed, by the time that goes with it.
  ///
  /// Returns true if anything changed.
  package func receive(
    _ tag: MessageTag, isRemoved: Bool, of id: MessageID, in conversation: ConversationID,
    at time: Timestamp
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try tag.validateSettable()
    // Refused before anything changes.
    let number = try self.tagNumber(of: tag)
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    let record = TagRecord(time: time.microseconds, isRemoved: isRemoved)
    return try withFacts(of: id, in: open) {
      (own, _) throws(StoreError) in
      try merge(record, number, of: own, in: open.number)
    }
  }

  /// Sets a tag of a message that is here, or removes it, for the local member.
  ///
  /// Returns true if anything changed.
  func setTag(
    _ tag: MessageTag, isRemoved: Bool, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try tag.validateSettable()
    guard let open = try transaction.existingConversation(conversation),
      let (_, message, own) = try flushed().messages.found(id, in: open.number)
    else { throw .message(.notFound, id, in: conversation) }
    if message.traits.isRetracted { throw .message(.retracted, id, in: conversation) }
    if isRemoved, try view.tags.number(of: tag) == nil { return false }
    let number = try self.tagNumber(of: tag)
    let old: TagRecord? = try view.record(TagRecord.key(open.number, own, number))
    guard (old?.isRemoved ?? true) != isRemoved else { return false }
    // The act of the local member is later than what it replaces.
    let clock = transaction.recordedTime()
    let last = Timestamp.plausibleRange.upperBound.microseconds
    let time = old.map { max(clock, $0.time < last ? $0.time + 1 : $0.time) } ?? clock
    return try receive(
      tag, isRemoved: isRemoved, of: own, in: conversation, at: Timestamp(microseconds: time))
  }

  /// Merges one record of a tag.
  ///
  /// Returns true if anything changed.
  @inline(never)
  package func merge(
    _ record: TagRecord, _ tag: UInt8, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    let key = TagRecord.key(conversation, id, tag)
    let old: TagRecord? = try view.record(key)
    if let old, !record.succeeds(old) || record == old { return false }
    transaction.hasAdded = true
    try transaction.put(record, at: key)
    return true
  }

  /// Merges the tags of a message with those under another name.
  ///
  /// The caller removes them under the first one.
  func copyTags(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    var found: [(tag: UInt8, record: TagRecord)] = []
    try view.facts.forEachTag(of: id, in: conversation) { found.append(($0, $1)) }
    for (tag, record) in found { _ = try merge(record, tag, of: other, in: target) }
  }

  /// Returns the number of a tag; a name of the client's own that is new gets the next one.
  package func tagNumber(of tag: MessageTag) throws(StoreError) -> UInt8 {
    if let number = tag.fixedNumber { return number }
    if let number = try view.tags.number(of: tag) { return number }
    guard case .own(let name) = tag else { return 0 }
    let known = try view.tags.ownNames()
    let number = known.last.map { $0.number + 1 } ?? MessageTag.firstOwnNumber
    guard TagSet(number: number).isSubset(of: .own), !TagSet(number: number).isEmpty else {
      throw .input(
        .tooMany(.ownTags, count: known.count + 1, limit: MessageTag.maximumOwnCount))
    }
    var value = ByteBuffer(capacity: 64)
    value.append(name)
    let key = TagKey.name(number)
    try transaction.insert(key.bytes, value.bytes, in: Schema.index)
    return number
  }
}
