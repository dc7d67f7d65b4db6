package import PageFile

/// The client's own fields of a member, and the kind, with their whole values.
///
/// See docs/message-format.md, N-8. They lie beside the profile, since each is merged by
/// itself, and a member may have fields without a profile.
package struct MemberFields: StoredRecord, Equatable {
  package static let table = Table(
    Schema.directory, "own fields of a member", keys: 5, mark: keySuffix)
  /// The byte behind the member's number in the key.
  package static let keySuffix: UInt8 = 1
  package private(set) var own = OwnFields()

  package init() {}

  package init(_ own: OwnFields) { self.own = own }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    own.visit(&fields)
  }

  package static func key(_ member: UInt32) -> ByteBuffer {
    KeyEncoding.key(member).appending(keySuffix)
  }

  /// Returns the number of the member if the bytes are a key of the table, or nil.
  package static func member(_ key: Bytes) -> UInt32? {
    guard key.count == KeyEncoding.numberByteCount + 1,
      key[KeyEncoding.numberByteCount] == keySuffix
    else { return nil }
    return key.bigEndianNumber(at: 0)
  }
}

extension DirectoryReader {
  /// Returns all that is known of the own fields of a member, with whole values.
  package func ownFields(_ member: UInt32) throws(StoreError) -> OwnFields {
    let record: MemberFields? = try view.record(MemberFields.key(member))
    return record?.own ?? OwnFields()
  }
}
