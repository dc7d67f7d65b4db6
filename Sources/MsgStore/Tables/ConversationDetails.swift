package import PageFile

/// The part of a conversation that seldom changes: its name, its title, the user's settings for it,
/// and as many participants as a list shows.
///
/// See docs/message-format.md, C-7 … C-10.
///
///     size  field
///        1  tag: 1
///     1–2   flags, varint
///        1  kind: 0 unknown, 1 direct, 2 group
///      1+n  id, its byte count first
///     9+…   with flag 1: title: time, 1 byte: 1 if a text follows, then byte count (4) and text
///     9+…   with flag 2: reference of the picture, likewise
///     1–5   with flag 4: number of the creator, varint
///        8  with flag 8: created at
///        8  with flag 16: time of the pinned mark
///        8  with flag 32: time of the muted mark
///        8  with flag 64: time of the archived mark
///     1+…   with flag 128: other names: their count, varint, then byte count and bytes of each
///     1–10  number of participants, varint
///        n  the numbers of the first 32 participants, one varint each, up to the end
///
/// Flags without a field: 256 there is a draft, 512 the local member does not take part (any more).
///
/// The complete list of members has a cell of its own, as has the draft. A list reads neither.
package struct ConversationDetails: Hashable {
  static let tag: UInt8 = 1
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 1
  /// The bytes at that place in the keys of all cells of a conversation except the summary.
  static let cellSuffixes = [keySuffix, DraftRecord.keySuffix, ConversationMembers.keySuffix]
  static let maximumTitleByteCount = 64 << 10
  static let maximumAvatarByteCount = 64 << 10
  /// The byte limit of the text of a received register, which may exceed the limits above.
  package static let maximumRegisterByteCount = 1 << 20
  package static let maximumParticipantCount = 10_000
  package static let maximumFirstParticipantCount = Conversation.maximumListedParticipantCount
  /// The limit for writing.
  ///
  /// Records with any number of aliases can be read.
  package static let maximumAliasCount = 1000

  private struct Flags: OptionSet {
    let rawValue: UInt16
    static let title = Flags(rawValue: 1)
    static let avatar = Flags(rawValue: 2)
    static let createdBy = Flags(rawValue: 4)
    static let createdAt = Flags(rawValue: 8)
    static let pinnedAt = Flags(rawValue: 16)
    static let mutedAt = Flags(rawValue: 32)
    static let archivedAt = Flags(rawValue: 64)
    static let aliases = Flags(rawValue: 128)
    static let draft = Flags(rawValue: 256)
    static let hasLeft = Flags(rawValue: 512)
    static let times: Flags = [.createdAt, .pinnedAt, .mutedAt, .archivedAt]
    static let known: UInt64 = 1023
  }

  package var id: ConversationID
  package var kind: ConversationKind = .unknown
  package var title = TextRegister()
  package var avatar = TextRegister()
  package var createdBy: UInt32?
  package var createdAt: Int64?
  /// The times at which pinned, muted and archived were last set or cleared.
  ///
  /// Their values are in the summary.
  package var pinnedAt: Int64?
  package var mutedAt: Int64?
  package var archivedAt: Int64?
  /// The other names that lead to this conversation, the newest last.
  package var aliases: [ConversationID] = []
  package var hasDraft = false
  /// True if the local member is known not to take part, or no longer to take part.
  package var hasLeft = false
  package var participantCount = 0
  /// The first participants, in the order of C-10.
  package var firstParticipants: [UInt32] = []

  package init(id: ConversationID) { self.id = id }

  /// Decodes the details.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let raw = reader.varint(), raw <= Flags.known,
      let code = reader.byte(), let kind = ConversationKind(rawValue: code),
      let id = reader.conversationID()
    else { return nil }
    self.init(id: id)
    self.kind = kind
    let flags = Flags(rawValue: UInt16(raw))
    hasDraft = flags.contains(.draft)
    hasLeft = flags.contains(.hasLeft)
    guard readFields(flags, &reader), let count = reader.varint(), count <= UInt64(Int32.max) else {
      return nil
    }
    participantCount = Int(count)
    let firstCount = min(participantCount, Self.maximumFirstParticipantCount)
    firstParticipants.reserveCapacity(firstCount)
    for _ in 0..<firstCount {
      guard let number = reader.varint(), number <= UInt64(UInt32.max) else { return nil }
      firstParticipants.append(UInt32(number))
    }
    guard reader.isAtEnd else { return nil }
  }

  private mutating func readFields(_ flags: Flags, _ reader: inout ByteReader) -> Bool {
    if flags.contains(.title) {
      guard let title = TextRegister(&reader) else { return false }
      self.title = title
    }
    if flags.contains(.avatar) {
      guard let avatar = TextRegister(&reader) else { return false }
      self.avatar = avatar
    }
    if flags.contains(.createdBy) {
      guard let number = reader.varint(), number <= UInt64(UInt32.max) else { return false }
      createdBy = UInt32(number)
    }
    // Most conversations have none of these times.
    if !flags.isDisjoint(with: .times) {
      guard Self.readTime(&createdAt, flags.contains(.createdAt), &reader),
        Self.readTime(&pinnedAt, flags.contains(.pinnedAt), &reader),
        Self.readTime(&mutedAt, flags.contains(.mutedAt), &reader),
        Self.readTime(&archivedAt, flags.contains(.archivedAt), &reader)
      else { return false }
    }
    if flags.contains(.aliases) {
      // Earlier versions wrote more than the limit. Each name takes at least two bytes, so memory
      // stays bounded.
      guard let count = reader.varint(), count > 0,
        count <= UInt64(reader.remainingByteCount / 2)
      else { return false }
      for _ in 0..<count {
        guard let alias = reader.conversationID() else { return false }
        aliases.append(alias)
      }
    }
    return true
  }

  private static func readTime(
    _ time: inout Int64?, _ isThere: Bool, _ reader: inout ByteReader
  ) -> Bool {
    guard isThere else { return true }
    time = reader.uint64().map { Int64(bitPattern: $0) }
    return time != nil
  }

  /// Removes the oldest former names until the rest fits the limit.
  ///
  /// - Returns: The removed names, which lead nowhere any more.
  mutating func dropOldestAliases() -> [ConversationID] {
    let count = max(0, aliases.count - Self.maximumAliasCount)
    defer { aliases.removeFirst(count) }
    return Array(aliases.prefix(count))
  }

  /// Appends the details.
  package func append(to buffer: inout ByteBuffer) {
    var flags: Flags = []
    if title.time != nil { flags.insert(.title) }
    if avatar.time != nil { flags.insert(.avatar) }
    if createdBy != nil { flags.insert(.createdBy) }
    if createdAt != nil { flags.insert(.createdAt) }
    if pinnedAt != nil { flags.insert(.pinnedAt) }
    if mutedAt != nil { flags.insert(.mutedAt) }
    if archivedAt != nil { flags.insert(.archivedAt) }
    if !aliases.isEmpty { flags.insert(.aliases) }
    if hasDraft { flags.insert(.draft) }
    if hasLeft { flags.insert(.hasLeft) }
    buffer.append(Self.tag)
    buffer.append(varint: UInt64(flags.rawValue))
    buffer.append(kind.rawValue)
    buffer.append(measured: id)
    title.append(to: &buffer)
    avatar.append(to: &buffer)
    if let createdBy { buffer.append(varint: UInt64(createdBy)) }
    for case let time? in [createdAt, pinnedAt, mutedAt, archivedAt] { buffer.append(time: time) }
    if !aliases.isEmpty {
      buffer.append(varint: UInt64(aliases.count))
      for alias in aliases { buffer.append(measured: alias) }
    }
    buffer.append(varint: UInt64(participantCount))
    for number in firstParticipants { buffer.append(varint: UInt64(number)) }
  }

  package static func key(_ conversation: UInt32) -> ByteBuffer {
    var key = KeyEncoding.key(conversation)
    key.append(keySuffix)
    return key
  }
}

extension ByteReader {
  /// Reads the name of a conversation, prefixed by its byte count.
  fileprivate mutating func conversationID() -> ConversationID? {
    guard let byteCount = byte(), byteCount > 0, let id = take(Int(byteCount)), id.isText
    else { return nil }
    // Unsafe: validated just above.
    return ConversationID(unsafe id.uncheckedText())
  }
}

extension ByteBuffer {
  /// Appends the name of a conversation, prefixed by its byte count.
  fileprivate mutating func append(measured id: ConversationID) {
    append(UInt8(id.byteCount))
    append(id.string)
  }
}
