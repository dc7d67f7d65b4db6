package import PageFile

/// The part of a conversation that seldom changes: its name, its title, the user's settings for it,
/// and as many participants as a list shows.
///
/// See docs/message-format.md, C-7 … C-10.
///
/// The complete list of members has a cell of its own, or one for each member ([C-11]), and so has
/// the draft. A list reads none of these.
package struct ConversationDetails: Equatable, StoredRecord {
  package static let table = Table(Schema.conversations, "details", keys: 5, mark: keySuffix)
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 1
  /// The bytes at that place in the keys of all cells of a conversation except the summary.
  static let cellSuffixes = [
    keySuffix, DraftRecord.keySuffix, ConversationMembers.keySuffix, ConversationFields.keySuffix,
  ]
  static let maximumTitleByteCount = 64 << 10
  static let maximumAvatarByteCount = 64 << 10
  /// The byte limit of the text of a received register, which may exceed the limits above.
  package static let maximumRegisterByteCount = 1 << 20
  package static let maximumParticipantCount = 10_000
  package static let maximumFirstParticipantCount = Conversation.maximumListedParticipantCount
  /// The limit for a conversation with a roster.
  ///
  /// It keeps more than a list shows, so that not everybody is read again when one of them leaves.
  package static let maximumRosterFirstCount = 64
  /// The limit for writing.
  ///
  /// Records with any number of aliases can be read.
  package static let maximumAliasCount = 1000

  package internal(set) var id: ConversationID
  package var kind: ConversationKind = .unknown
  package var title = TextRegister()
  package var avatar = TextRegister()
  package var createdBy: UInt32?
  package var createdAt: Int64?
  /// The times at which pinned, muted, archived, and marked as unread were last set or cleared.
  ///
  /// Their values are in the summary.
  package var pinnedAt: Int64?
  package var mutedAt: Int64?
  /// The time at which the mute ends; nil without an end, or if the conversation is not muted.
  package var mutedUntil: Int64?
  /// True if the mute has ended for good: the server's time has passed its end, too.
  package var hasMuteEnded = false
  package var archivedAt: Int64?
  package var markedUnreadAt: Int64?
  /// The other names that lead to this conversation, the newest last.
  package var aliases: [ConversationID] = []
  package var hasDraft = false
  /// True if the local member is known not to take part, or no longer to take part.
  package var hasLeft = false
  /// The sum of the members, if they have cells of their own; nil if they are in one value.
  package var roster: Roster?
  package var participantCount = 0
  /// The first participants, in the order of C-10.
  package var firstParticipants: [UInt32] = []

  /// The participants that a list shows.
  var listedParticipants: [UInt32] {
    guard firstParticipants.count > Self.maximumFirstParticipantCount else {
      return firstParticipants
    }
    return Array(firstParticipants.prefix(Self.maximumFirstParticipantCount))
  }

  package init() { self.init(id: "") }

  package init(id: ConversationID) { self.id = id }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.varint)
    fields.code(&kind, "kind: 0 unknown, 1 direct, 2 group")
    fields.name(&id, "id")
    if fields.has(1, title.time != nil) { fields.part(&title, "title ([C-9])") }
    if fields.has(2, avatar.time != nil) {
      fields.part(&avatar, "reference of its picture ([C-9])")
    }
    fields.optional(4, &createdBy, or: 0) { $0.varint(&$1, "number of the creator") }
    fields.optional(8, &createdAt, or: 0) { $0.fixed(&$1, "created at") }
    fields.optional(16, &pinnedAt, or: 0) { $0.fixed(&$1, "time of the pinned mark") }
    fields.optional(32, &mutedAt, or: 0) { $0.fixed(&$1, "time of the muted mark") }
    fields.optional(4096, &mutedUntil, or: 0) {
      $0.fixed(&$1, "time at which the mute ends ([C-24])")
    }
    fields.mark(8192, &hasMuteEnded)
    fields.require(mutedUntil != nil || !hasMuteEnded)
    fields.optional(64, &archivedAt, or: 0) { $0.fixed(&$1, "time of the archived mark") }
    fields.optional(2048, &markedUnreadAt, or: 0) {
      $0.fixed(&$1, "time of the mark as unread")
    }
    if fields.has(128, !aliases.isEmpty) {
      var count = aliases.count
      fields.varint(&count, "number of former names")
      fields.require(count > 0)
      fields.elements(&aliases, of: "", count: count, "the former names, the newest last") {
        $0.name(&$1, "name")
      }
    }
    fields.mark(256, &hasDraft)
    fields.mark(512, &hasLeft)
    if fields.has(1024, roster != nil) {
      var present = roster ?? Roster()
      fields.part(&present, "sum of the members in cells ([C-22])")
      roster = present
    }
    fields.varint(&participantCount, maximum: Int(Int32.max), "number of participants")
    var listedCount = min(participantCount, Self.maximumFirstParticipantCount)
    if roster != nil {
      listedCount = firstParticipants.count
      fields.varint(
        &listedCount, maximum: Self.maximumRosterFirstCount,
        "with flag 1024: number of the first participants here")
      fields.require(listedCount <= participantCount)
    }
    fields.numbers(&firstParticipants, count: listedCount, "the first participants")
  }

  /// Removes the oldest former names until the rest fits the limit.
  ///
  /// - Returns: The removed names, which lead nowhere any more.
  mutating func dropOldestAliases() -> [ConversationID] {
    let count = max(0, aliases.count - Self.maximumAliasCount)
    defer { aliases.removeFirst(count) }
    return Array(aliases.prefix(count))
  }

  package static func key(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(keySuffix)
  }
}
