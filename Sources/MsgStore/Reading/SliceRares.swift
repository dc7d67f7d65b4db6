import PageFile

/// The rare fields of the messages of a slice, as bytes that were checked, and decoded when they
/// are asked for.
///
///     size  part of a block
///     1+…   traits, as in the record
///     1+…   reactions, if the message lists them: their count; of each 8 bytes of time, and byte
///           count and bytes of the emoji and of the server's id, which may be empty
///     1+…   attachments: their count; of each byte count and bytes of the record
///       4n  indices of the mentioned members and of those who reacted, in this order
final class SliceRares: RareSource, @unchecked Sendable {
  // Unchecked: nothing changes after init but the slots, which are atomic.

  /// The location of one message's block.
  struct Entry {
    let offset: Int
    let byteCount: Int
    let memberCount: Int
  }

  private let buffer: ByteBuffer
  private let entries: [Entry]
  /// The members to whom the indices refer.
  private let members: [MemberID]
  /// The fields that were asked for.
  private let decoded: ReferenceSlots<Message.Rare>

  init(_ buffer: consuming ByteBuffer, _ entries: [Entry], _ members: [MemberID]) {
    self.buffer = buffer
    self.entries = entries
    self.members = members
    decoded = ReferenceSlots(count: entries.count)
  }

  func rare(at index: Int) -> Message.Rare {
    if let known = decoded.with(index, { $0 }) { return known }
    let rare = Message.Rare(fields(at: index))
    // Another thread may have been faster. Its fields are the same.
    _ = decoded.fill(index, rare)
    return rare
  }

  private func fields(at index: Int) -> RareFields {
    let entry = entries[index]
    var fields = RareFields()
    var reader = ByteReader(buffer.bytes.slice(entry.offset, entry.byteCount))
    // Everything was checked when it was copied.
    guard let byteCount = reader.length(), let block = reader.take(byteCount),
      let traits = MessageTraits(block)
    else { return fields }
    fields.takeCommon(traits)
    var memberOffset = entry.offset + entry.byteCount
    func nextMember() -> MemberID {
      defer { memberOffset += 4 }
      return members[Int(buffer.bytes.uint32(at: memberOffset))]
    }
    for _ in traits.mentions { fields.mentions.append(nextMember()) }
    // Member numbers differ between stores; names do not.
    fields.mentions.sort()
    if traits.marks.contains(.reactions) {
      let counts = traits.reactionCounts ?? ReactionCounts()
      let isListed = counts.total <= Message.maximumListedReactionCount
      fields.countedReactions = CountedReactions(counts.all, isListed: isListed)
    }
    for _ in 0..<(reader.varint() ?? 0) {
      guard let time = reader.uint64(), let byteCount = reader.byte(),
        let emoji = reader.take(Int(byteCount)), let nameByteCount = reader.byte(),
        let name = reader.take(Int(nameByteCount))
      else { return fields }
      fields.reactions.append(
        Reaction(
          emoji.repairedText(), from: nextMember(),
          at: Timestamp(microseconds: Int64(bitPattern: time)),
          serverName: nameByteCount == 0 ? nil : MessageID(name)))
    }
    fields.reactions.sort(by: Reaction.precedes)
    fields.attachments = attachments(&reader)
    return fields
  }

  private func attachments(_ reader: inout ByteReader) -> [MessageAttachment] {
    var records: [AttachmentRecord] = []
    for _ in 0..<(reader.varint() ?? 0) {
      guard let byteCount = reader.length(), let bytes = reader.take(byteCount),
        let record = AttachmentRecord(bytes)
      else { break }
      records.append(record)
    }
    // They are in the order of the ids, which decides between equal indices.
    return records.inOrder { UInt64($0.index) }.map(\.attachment)
  }
}

/// Comparison of rare fields in place, for slices.
extension SliceRares {
  /// Returns true if the rare fields of two messages of slices are equal.
  ///
  /// - Parameters:
  ///   - index: The index in the origin's rare fields, or -1.
  ///   - otherIndex: The same for the other message.
  static func areSame(
    _ origin: Message.Origin, _ index: Int32, _ other: Message.Origin, _ otherIndex: Int32
  ) -> Bool {
    if index < 0 && otherIndex < 0 { return true }
    if let mine = origin.rares as? SliceRares, let theirs = other.rares as? SliceRares,
      index >= 0, otherIndex >= 0,
      mine.hasSameBytes(as: theirs, Int(index), Int(otherIndex))
    {
      return true
    }
    return (origin.rare(at: index)?.fields ?? RareFields())
      == (other.rare(at: otherIndex)?.fields ?? RareFields())
  }

  private func hasSameBytes(as other: SliceRares, _ index: Int, _ otherIndex: Int) -> Bool {
    let (a, b) = (entries[index], other.entries[otherIndex])
    guard a.memberCount == b.memberCount,
      buffer.bytes.slice(a.offset, a.byteCount)
        .compare(to: other.buffer.bytes.slice(b.offset, b.byteCount)) == 0
    else { return false }
    for number in 0..<a.memberCount {
      let mine = buffer.bytes.uint32(at: a.offset + a.byteCount + number * 4)
      let theirs = other.buffer.bytes.uint32(at: b.offset + b.byteCount + number * 4)
      guard members[Int(mine)] == other.members[Int(theirs)] else { return false }
    }
    return true
  }
}
