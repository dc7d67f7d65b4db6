package import PageFile

/// An entry of the conversation names tree, which leads from a name to a conversation.
///
/// See docs/message-format.md, N-3.
///
/// A former name is marked. Only then must the details be read to learn the current name, so
/// opening a thread by its current name stays one lookup.
///
///     size  field
///        4  number of the conversation
///        1  1 for a former name; missing in the entry of the current one
package struct ConversationName: Hashable {
  package let number: UInt32
  package let isFormer: Bool

  init(number: UInt32, isFormer: Bool) {
    self.number = number
    self.isFormer = isFormer
  }

  /// Decodes an entry.
  ///
  /// Returns nil if the bytes are not a valid entry; never traps.
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
  /// Looks up a conversation by any of its names.
  ///
  /// Returns its number and its current name.
  func find(
    _ id: ConversationID
  ) throws(StoreError) -> (number: UInt32, id: ConversationID)? {
    guard let name = try indexEntry(of: id) else { return nil }
    return (name.number, name.isFormer ? try conversations.details(name.number).id : id)
  }

  /// Looks up the number of a conversation by any of its names.
  package func number(of id: ConversationID) throws(StoreError) -> UInt32? {
    try indexEntry(of: id)?.number
  }

  private func indexEntry(of id: ConversationID) throws(StoreError) -> ConversationName? {
    let key = KeyEncoding.key(id.string)
    guard (1...Identifier.maximumByteCount).contains(key.count) else { return nil }
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.conversationNames, appendTo: &value) else {
      return nil
    }
    guard let name = ConversationName(value.bytes) else {
      throw corrupt(Schema.conversationNames, "malformed entry of a name (\(value.count) bytes)")
    }
    return name
  }
}
