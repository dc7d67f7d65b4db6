package import PageFile

/// The client's own fields of a conversation, and its kind, with their whole values.
///
/// See docs/message-format.md, C-23. One cell has all: fields are few, and the cell moves and goes
/// with the conversation as its details do.
package struct ConversationFields: StoredRecord, Equatable {
  package static let table = Table(
    Schema.conversations, "own fields of a conversation", keys: 5, mark: keySuffix)
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 4
  package private(set) var own = OwnFields()

  package init() {}

  package init(_ own: OwnFields) { self.own = own }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    own.visit(&fields)
  }

  package static func key(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(keySuffix)
  }
}

extension ConversationReader {
  /// Returns all that is known of the own fields of a conversation, with whole values.
  @inline(never)
  package func ownFields(_ number: UInt32) throws(StoreError) -> OwnFields {
    let record: ConversationFields? = try view.record(ConversationFields.key(number))
    return record?.own ?? OwnFields()
  }
}
