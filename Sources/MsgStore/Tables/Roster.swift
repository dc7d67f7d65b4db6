import PageFile

/// The part of a conversation's details that sums up its members that have cells, so that a joining
/// or a leaving reads no other member.
///
/// See docs/message-format.md, C-22.
package struct Roster: Equatable, FieldRecord {
  /// The sum of `mix` over the participants, under which the conversation is found by them.
  package internal(set) var digest: UInt64 = 0
  /// The newest time of a fact about a member, or of a complete list.
  package internal(set) var newestTime: Int64 = 0
  /// The time of the newest complete list.
  package var completeAt: Int64?

  package init() {}

  /// Sums up members.
  package init(_ members: ConversationMembers) {
    digest = Self.digest(members.active)
    newestTime = members.lastTime ?? 0
    completeAt = members.completeAt
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.fixed(&digest, "digest of the participants")
    fields.fixed(&newestTime, "newest time of a fact about a member, or of a complete list")
    guard fields.follows(completeAt != nil, "1 with a complete list, else 0") else { return }
    var time = completeAt ?? 0
    fields.fixed(&time, "time of the newest one")
    completeAt = time
  }

  /// Returns the digest of some participants, in any order.
  package static func digest(_ participants: some Sequence<UInt32>) -> UInt64 {
    participants.reduce(0) { $0 &+ mix($1) }
  }

  /// Returns the part of one participant in the digest: the finaliser of SplitMix64, so that sums
  /// of neighbouring numbers differ.
  static func mix(_ number: UInt32) -> UInt64 {
    var bits = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
