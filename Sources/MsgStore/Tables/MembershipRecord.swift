package import PageFile

/// The latest known fact about one member of a large conversation.
///
/// See docs/message-format.md, C-11 and C-22.
package struct MembershipRecord: Equatable, StoredRecord {
  package static let table = Table(
    Schema.conversations, "membership", keys: keyByteCount, mark: keySuffix)
  package static let keySuffix: UInt8 = 9
  package static let keyByteCount = 9

  package var time: Int64 = 0
  package internal(set) var isActive = false
  package internal(set) var joinedAt: Int64?

  package init() {}

  package init(_ member: ConversationMembers.Member) {
    time = member.time
    isActive = member.isActive
    joinedAt = member.joinedAt
  }

  /// Returns the fact as one about a member.
  package func member(_ number: UInt32) -> ConversationMembers.Member {
    ConversationMembers.Member(number, time: time, isActive: isActive, joinedAt: joinedAt)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.flags(.byte)
    fields.mark(1, &isActive)
    fields.fixed(&time, "time of the fact")
    guard fields.has(2, joinedAt != nil) else { return }
    var step = (joinedAt ?? 0) &- time
    fields.signedVarint(&step, "time of joining, minus the time of the fact")
    joinedAt = time &+ step
  }

  @inline(never)
  package static func key(_ conversation: UInt32, _ member: UInt32) -> ByteBuffer {
    prefix(conversation).appending(member)
  }

  /// Returns the common prefix of the keys of a conversation's members.
  @inline(never)
  static func prefix(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(keySuffix)
  }

  /// Returns the numbers in a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> (conversation: UInt32, member: UInt32)? {
    guard key.count == keyByteCount, key[KeyEncoding.numberByteCount] == keySuffix,
      let conversation = key.bigEndianNumber(at: 0), let member = key.bigEndianNumber(at: 5)
    else { return nil }
    return (conversation, member)
  }
}

/// A walk along the members of a conversation that have cells, in order of their numbers.
struct MemberWalk: ~Copyable {
  private let view: StoreView
  private let conversation: UInt32
  private let prefix: ByteBuffer
  private var cursor: Cursor

  /// Begins with the first member from a number on.
  init(_ view: StoreView, _ conversation: UInt32, from start: UInt32 = 0) throws(StoreError) {
    self.view = view
    self.conversation = conversation
    prefix = MembershipRecord.prefix(conversation)
    cursor = Cursor(view.source, Schema.conversations)
    let key = MembershipRecord.key(conversation, start)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
  }

  /// Returns the next member; nil at the end.
  mutating func next() throws(StoreError) -> ConversationMembers.Member? {
    guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    guard cursor.keyByteCount == MembershipRecord.keyByteCount else {
      throw view.corrupt(
        Schema.conversations, "membership: malformed key (\(cursor.keyByteCount) bytes)")
    }
    let number = UInt32(truncatingIfNeeded: cursor.key.bigEndian64(at: 1))
    // A sound record never leaves its page.
    guard let value = cursor.inlineValue, let record = MembershipRecord(value) else {
      throw view.corrupt(
        Schema.conversations, "conversation \(conversation): member \(number): malformed record")
    }
    try storage { () throws(PageFileError) in _ = try cursor.next() }
    return record.member(number)
  }
}
