import PageFile

/// The keys of tags of whole conversations: of one whose mentions have to be found, and of one that
/// goes.
extension Transaction {
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
