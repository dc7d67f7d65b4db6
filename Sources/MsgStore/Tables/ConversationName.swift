package import PageFile

/// What a name of a conversation leads to: an entry of the conversation names tree.
///
/// See docs/message-format.md, N-3.
///
/// A name that the conversation had before says so. Only for those the details have to be read to
/// know what it is called now, so that opening a thread by its name stays one lookup.
///
///     size  field
///        4  number of the conversation
///        1  1 for a name that it had before; missing in the entry of the one it has now
package struct ConversationName: Hashable {
  package let number: UInt32
  package let isFormer: Bool

  init(number: UInt32, isFormer: Bool) {
    self.number = number
    self.isFormer = isFormer
  }

  /// Reads an entry.
  ///
  /// Any bytes may be given; nil when they are none.
  package init?(_ bytes: Bytes) {
    guard bytes.count == 4 || bytes.count == 5 && bytes[4] == 1 else { return nil }
    self.init(number: bytes.uint32(at: 0), isFormer: bytes.count == 5)
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(littleEndian: number)
    if isFormer { buffer.append(1) }
  }
}

extension StoreView {
  /// A conversation by any of its names: its number, and what it is called now.
  func find(
    _ id: ConversationID
  ) throws(StoreError) -> (number: UInt32, id: ConversationID)? {
    guard let name = try entry(of: id) else { return nil }
    return (name.number, name.isFormer ? try conversations.details(name.number).id : id)
  }

  /// The number of a conversation by any of its names.
  package func number(of id: ConversationID) throws(StoreError) -> UInt32? {
    try entry(of: id)?.number
  }

  private func entry(of id: ConversationID) throws(StoreError) -> ConversationName? {
    let key = KeyEncoding.key(id.string)
    guard (1...Identifier.byteCountMax).contains(key.count) else { return nil }
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.conversationNames, appendTo: &value) else {
      return nil
    }
    guard let name = ConversationName(value.bytes) else {
      throw corrupt(Schema.conversationNames, "a number has \(value.count) bytes")
    }
    return name
  }
}
