import PageFile

/// A reader of the index by tags, and of the tags of messages.
package struct TagIndex {
  let view: StoreView

  /// Returns the number of a conversation's messages with a tag.
  ///
  /// Costs one lookup.
  package func count(_ tag: UInt8, in conversation: UInt32) throws(StoreError) -> Int {
    let key = TagKey.count(conversation, tag)
    var value = ByteBuffer(capacity: 16)
    guard try view.value(of: key.bytes, in: Schema.index, appendTo: &value) else { return 0 }
    guard let count = CellCount.decode(value.bytes) else {
      throw view.corrupt(Schema.index, "malformed count (\(value.count) bytes)")
    }
    return Int(count)
  }

  /// Returns true if a message has a tag.
  func has(_ tag: TagSet, _ record: MessageRecord) throws(StoreError) -> Bool {
    if tag.isSubset(of: .attachments), let outline = TraitsOutline(record.traitsBytes) {
      // The same as below, without decoding the rest.
      if outline.bits.contains(.expired) { return false }
      return outline.tags.isSuperset(of: tag)
    }
    guard let traits = record.traits() else {
      throw view.corrupt(Schema.messages, "tags: malformed traits")
    }
    if traits.isRetracted, !StoreDefect.hiddenTagsListed.isPlanted { return false }
    if traits.isLetGo { return false }
    switch tag {
    case .link:
      if traits.tags.contains(.link) { return true }
      if !record.flags.contains(.compressed) { return record.payload.hasLink }
      var text = ByteBuffer(capacity: record.textByteCount)
      guard record.appendText(to: &text) else {
        throw view.corrupt(Schema.messages, "tags: malformed text")
      }
      return text.bytes.hasLink
    case .mention:
      return view.localMember.map(traits.mentions.contains) ?? false
    default:
      return traits.tags.isSuperset(of: tag)
    }
  }

  /// Returns the client's own names of tags, by number.
  ///
  /// Costs a walk along at most 16 cells.
  @inline(never)
  package func ownNames() throws(StoreError) -> [(number: UInt8, name: String)] {
    var names: [(number: UInt8, name: String)] = []
    let start = TagKey.name(MessageTag.firstOwnNumber)
    try view.forEachCell(
      with: start, sharing: KeyEncoding.indexByteCount, in: Schema.index
    ) { (key, value) throws(StoreError) in
      guard case .name(let tag) = TagKey.parts(key), let name = TagKey.ownName(value) else {
        throw view.corrupt(Schema.index, "malformed name of a tag")
      }
      names.append((tag, name))
      return true
    }
    return names
  }

  /// Returns the number of a tag, or nil for a name that the store does not know.
  package func number(of tag: MessageTag) throws(StoreError) -> UInt8? {
    guard case .own(let name) = tag else { return tag.fixedNumber }
    return try ownNames().first { $0.name.hasSameBytes(as: name) }?.number
  }

  /// Returns the tags of a set that were set, in the order of their numbers.
  package func settable(_ tags: TagSet) throws(StoreError) -> [MessageTag] {
    let fixed = MessageTag.settable.filter { tag in
      tag.fixedNumber.map { tags.contains(TagSet(number: $0)) } ?? false
    }
    if tags.isDisjoint(with: .own) { return fixed }
    let own = try ownNames().filter { tags.contains(TagSet(number: $0.number)) }
    return fixed + own.map { .own($0.name) }
  }

  /// Returns the tag of a number that was set; nil for a name that the store does not know.
  package func tag(_ number: UInt8) throws(StoreError) -> MessageTag? {
    try settable(TagSet(number: number)).first
  }
}

extension StoreView {
  package var tags: TagIndex { TagIndex(view: self) }
}

extension FactReader {
  /// Returns the tags that follow from the attachments of a message.
  @inline(never)
  package func attachmentTags(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> TagSet {
    var tags: TagSet = []
    let prefix = FactKey.prefix(conversation, id, .attachment)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let kind = AttachmentRecord.kind(value) else {
        throw view.corrupt(Schema.facts, "message \"\(id)\": malformed attachment")
      }
      tags.formUnion(TagSet(kind))
    }
    return tags
  }
}
