package import PageFile

/// The part of a conversation that changes with every message: counters, marks, the last message.
///
/// See docs/message-format.md, C-1 … C-6.
///
/// The summary is small and separate from the details, so that a message in a group of thousands
/// writes as little as one between two members. The zeros let it keep its size while the length of
/// the last message's text changes. It then stays in its place in the page, and a commit logs only
/// the bytes that differ.
package struct ConversationSummary: Equatable, StoredRecord {
  package static let table = Table(Schema.conversations, "summary", keys: 4)
  package static let tag: UInt8 = 3
  /// A limit that no counter reaches in the life of a store.
  ///
  /// Counting on from it cannot overflow.
  private static let maximumCounter = 1 << 60

  /// The flags of a summary that guard no field.
  package struct Flags: OptionSet, Equatable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    package static let pinned = Flags(rawValue: 8)
    package static let muted = Flags(rawValue: 16)
    package static let archived = Flags(rawValue: 32)
    /// Deleted until something newer arrives: not in any list, and not found by name.
    package static let hidden = Flags(rawValue: 64)
    package static let markedUnread = Flags(rawValue: 512)
    fileprivate static let all: UInt64 = 632
  }

  /// The last message, as the list shows it.
  ///
  /// The text may be uncut until the summary is written.
  package struct Last: Equatable {
    package internal(set) var position: MessagePosition
    package var sender: UInt32
    package var status: MessageStatus
    package var text: String
    package var isRetracted = false
    package var attachment: PreviewAttachment?
    /// True if a list must read the message's record for its name or its status: the message has a
    /// second name, or receipts by name.
    package internal(set) var needsRecord = false

    /// Replaces the last message with one that has only a text.
    mutating func replace(with message: StoredMessage, at position: MessagePosition) {
      self.position = position
      sender = message.sender
      status = message.status
      text = message.text
      isRetracted = false
      needsRecord = Self.needsRecord(message)
      if case .some = attachment { attachment = nil }
    }

    package static func needsRecord(_ message: StoredMessage) -> Bool {
      !message.traits.names.isEmpty || message.traits.marks.contains(.receipts)
    }

    package init(position: MessagePosition, sender: UInt32, status: MessageStatus, text: String) {
      self.position = position
      self.sender = sender
      self.status = status
      self.text = text
    }
  }

  /// The flags pinned, muted, archived, hidden, and marked as unread.
  package var marks: Flags = []
  /// The time at which the conversation was created.
  ///
  /// The list shows it under this time while it has no messages.
  package var created: Int64
  package var messageCount = 0
  package var unreadCount = 0
  /// The number of unread messages that mention the local member.
  package internal(set) var mentionCount = 0
  package var nextLocalOrder: Int64 = 0
  /// The ordinal that is incremented whenever something is marked as read.
  package var markOrdinal: UInt64 = 0
  /// The read mark made here.
  ///
  /// It covers everything up to it except messages that came below it afterwards.
  package var mark: MessagePosition?
  /// The read mark told by the server: the local member has read everything up to it.
  package internal(set) var toldMark: MessagePosition?
  /// The server time up to which messages were deleted with the conversation.
  ///
  /// They stay deleted.
  package var deletedUpTo: Int64?
  /// The newest run of known sequences.
  ///
  /// The older runs are in a tree.
  package internal(set) var sequences: ClosedRange<Int64>?
  /// The latest time of any message.
  ///
  /// It is meaningful only while there is a last message.
  package var activity: Int64 = 0
  package var last: Last?

  package init() { self.init(created: 0) }

  package init(created: Int64) { self.created = created }

  /// The time under which the list shows the conversation.
  var listTime: Int64 { hasLast && !StoreDefect.listedByCreation.isPlanted ? activity : created }

  /// True if there is a last message.
  ///
  /// Comparing it with nil would copy it.
  var hasLast: Bool {
    if case .some = last { return true }
    return false
  }

  /// Returns true if a message with only a text is certain to be the last one: it is acknowledged,
  /// and it follows an acknowledged last message.
  func isFollowed(by message: StoredMessage, at position: MessagePosition) -> Bool {
    guard case .some(let last) = last else { return false }
    return !position.place.isPending && !last.position.place.isPending
      && last.position < position
      && message.traits.marks.isDisjoint(with: [.retracted, .hidden, .attachments])
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var tag = Self.tag
    fields.fixed(&tag, "tag")
    fields.require(tag == Self.tag)
    fields.flags(.varint)
    marks = Flags(rawValue: UInt16(fields.bits(Flags.all, UInt64(marks.rawValue))))
    fields.fixed(&created, "created")
    let maximum = Self.maximumCounter
    fields.varint(&messageCount, maximum: maximum, "message count")
    fields.varint(&unreadCount, maximum: maximum, "unread count")
    fields.varint(&mentionCount, maximum: maximum, "unread mention count")
    fields.varint(&nextLocalOrder, maximum: Int64(maximum), "next local order")
    fields.varint(&markOrdinal, maximum: UInt64(maximum), "mark ordinal")
    fields.optional(1, &mark, or: .lowest) { $0.position(&$1, "read mark made here") }
    fields.optional(4, &toldMark, or: .lowest) { $0.position(&$1, "read mark told by the server") }
    fields.optional(128, &deletedUpTo, or: 0) { $0.fixed(&$1, "deleted up to") }
    fields.optional(256, &sequences, or: 0...0) { fields, run in
      var (first, last) = (run.lowerBound, run.upperBound)
      fields.fixed(&first, "first of the newest run of known sequences")
      fields.fixed(&last, "last of this run")
      fields.require(first <= last)
      run = first...max(first, last)
    }
    if fields.has(2, hasLast) {
      fields.fixed(&activity, "activity")
      var last =
        last ?? Last(position: .lowest, sender: 0, status: .pending, text: "")
      last.visit(&fields)
      self.last = last
    }
    fields.zeros()
  }

  /// Cuts the last message's text to the length that a list shows.
  mutating func cutPreview() {
    guard let last, last.text.utf8.count > ConversationPreview.maximumByteCount else { return }
    self.last?.text = ConversationPreview.cut(last.text)
  }

  /// The unit of a summary's byte count.
  ///
  /// Up to the limit, a summary does not shrink.
  private static let roomUnit = 16
  private static let maximumKeptRoom = 512

  package func append(to buffer: inout ByteBuffer) { append(to: &buffer, inPlaceOf: 0) }

  /// Appends the summary.
  ///
  /// - Parameter byteCount: The byte count of the summary that it replaces, or 0.
  package func append(to buffer: inout ByteBuffer, inPlaceOf byteCount: Int) {
    let start = buffer.count
    var summary = self
    var fields = FieldWriter(buffer)
    summary.visit(&fields)
    buffer = fields.finishRecord()
    let written = buffer.count - start
    let room = max(min(byteCount, Self.maximumKeptRoom), written)
    buffer.append(zeros: (room + Self.roomUnit - 1) / Self.roomUnit * Self.roomUnit - written)
  }
}

extension ConversationSummary.Last {
  fileprivate mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.position(&position, "position of the last message")
    fields.varint(&sender, "number of its sender")
    fields.code(&status, "its status")
    var shown: UInt8 = (isRetracted ? 1 : attachment == nil ? 0 : 2) | (needsRecord ? 4 : 0)
    fields.fixed(
      &shown, "shown: 0 text, 1 that it was retracted, 2 an attachment; 4 more: see [C-6]")
    fields.require(shown & 3 <= 2 && shown < 8)
    needsRecord = shown & 4 != 0
    isRetracted = shown & 3 == 1
    if shown & 3 == 2 {
      var first = attachment ?? PreviewAttachment(kind: .other, fileName: "", thumbnail: "")
      fields.code(&first.kind, "with an attachment: its kind")
      fields.bytes(
        &first.fileName, .uint16, in: 0...PreviewAttachment.maximumFileNameByteCount,
        "with an attachment: name of its file")
      fields.bytes(
        &first.thumbnail, .uint16, in: 0...PreviewAttachment.maximumThumbnailByteCount,
        "with an attachment: URL of its thumbnail")
      attachment = first
    }
    var text = ConversationPreview.cut(text)
    fields.bytes(
      &text, .byte, in: 0...ConversationPreview.maximumByteCount, "the beginning of its text")
    self.text = text
  }
}
