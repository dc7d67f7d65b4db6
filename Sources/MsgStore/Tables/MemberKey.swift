package import PageFile

/// Keys of the numbers of members, which lead to their ids.
///
///     0 (4), 0x09, number of the member (4) → id
package enum MemberKey {
  package static func key(_ member: UInt32) -> ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .member).appending(member)
  }

  /// Returns the number in a key, or nil if it is malformed.
  package static func number(_ key: Bytes) -> UInt32? {
    guard key.indexKind == .member, case let rest = key.indexRest, rest.count == 4 else {
      return nil
    }
    return rest.bigEndianNumber(at: 0)
  }
}
