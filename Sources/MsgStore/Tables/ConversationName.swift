import PageFile

/// A cell of the names tree that leads from a name to a conversation.
///
/// See docs/message-format.md, N-3.
///
/// A former name is marked. Only then must the details be read to learn the current name, so
/// opening a thread by its current name stays one lookup.
package struct ConversationName: Equatable, StoredRecord {
  package static let table = Table(Schema.names, "name of a conversation")
  package private(set) var number: UInt32 = 0
  package private(set) var isFormer = false

  package init() {}

  init(number: UInt32, isFormer: Bool) {
    self.number = number
    self.isFormer = isFormer
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.fixed(&number, "number of the conversation")
    fields.lastMark(&isFormer, "1 for a former name")
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
  @inline(never)
  package func number(of id: ConversationID) throws(StoreError) -> UInt32? {
    try indexEntry(of: id)?.number
  }

  @inline(never)
  private func indexEntry(of id: ConversationID) throws(StoreError) -> ConversationName? {
    guard (1...Identifier.maximumByteCount).contains(id.string.utf8.count) else { return nil }
    return try record(NameKey.conversation(id.string))
  }
}
