import PageFile

/// The rules by which a message is unread for the local member, and the counters of unread
/// messages.
///
/// See docs/message-format.md, U-1 … U-8.
///
/// A conversation has two read marks: the place up to which everything was read here, and the place
/// up to which the server says that it was read on any device. A message is unseen if it came live,
/// was not read by its name, lies above the mark told by the server, and
///  1. lies above the mark made here, or
///  2. came to lie below that mark after it was made. Its record then has the mark ordinal of that
///     moment, and the ordinal is still the same. Each change of the mark increments the ordinal.
///
/// An unseen message from another member is unread. The count is stored and changed with each
/// message, so reading it costs nothing, and marking a thread as read up to its end is one small
/// record.
extension ConversationSummary {
  package func isUnseen(_ record: some Seeable, at position: MessagePosition) -> Bool {
    if let toldMark, position <= toldMark { return false }
    return isUnseenHere(record, at: position)
  }

  /// Returns true if nothing done here has covered a message.
  ///
  /// A message keeps this when it moves, whereas the mark told by the server covers it by its place
  /// alone.
  func isUnseenHere(_ record: some Seeable, at position: MessagePosition) -> Bool {
    record.isUnseenAboveMarks && !isBelowMark(record, at: position)
  }

  /// Returns true if something done here has covered a message, however it came.
  func isCovered(_ record: some Seeable, at position: MessagePosition) -> Bool {
    record.marks.contains(.seen) || isBelowMark(record, at: position)
  }

  /// Returns true if a message lies below the mark made here, and did not come to lie there later.
  private func isBelowMark(_ record: some Seeable, at position: MessagePosition) -> Bool {
    guard let mark, position <= mark else { return false }
    return record.markOrdinal != markOrdinal
  }

  /// The place above which every message is unseen that was not read by its name.
  var seenUpTo: MessagePosition? { latest(mark, toldMark) }

  /// Applies a change to the counters.
  mutating func count(_ change: UnreadCount) {
    unreadCount = max(0, unreadCount + change.messages)
    if change.mentions < 0 && StoreDefect.mentionsKept.isPlanted { return }
    mentionCount = max(0, mentionCount + change.mentions)
  }

  var counted: UnreadCount {
    get { UnreadCount(messages: unreadCount, mentions: mentionCount) }
    set { (unreadCount, mentionCount) = (max(0, newValue.messages), max(0, newValue.mentions)) }
  }
}

/// The number of unread messages, and of those among them that mention the local member.
package struct UnreadCount: Equatable {
  package internal(set) var messages = 0
  package var mentions = 0

  package init(messages: Int = 0, mentions: Int = 0) {
    self.messages = messages
    self.mentions = mentions
  }

  package static func + (a: UnreadCount, b: UnreadCount) -> UnreadCount {
    UnreadCount(messages: a.messages + b.messages, mentions: a.mentions + b.mentions)
  }

  package static func - (a: UnreadCount, b: UnreadCount) -> UnreadCount {
    UnreadCount(messages: a.messages - b.messages, mentions: a.mentions - b.mentions)
  }
}

/// The fields of a message, packed or unpacked, that decide if it was seen.
package protocol Seeable {
  var flags: MessageRecord.Flags { get }
  var sender: UInt32 { get }
  var marks: MessageTraits.Bits { get }
  var markOrdinal: UInt64? { get }
  func mentions(_ member: UInt32) -> Bool
}

extension Seeable {
  /// True if the message is unseen where it lies above all read marks.
  var isUnseenAboveMarks: Bool {
    let isHistory = flags.contains(.history) && !StoreDefect.historyUnread.isPlanted
    return !isHistory && !marks.contains(.seen)
  }

  /// Returns true if the fields that decide if a message was seen are those of another form of it.
  func isSeen(as other: some Seeable) -> Bool {
    flags.contains(.history) == other.flags.contains(.history)
      && marks.contains(.seen) == other.marks.contains(.seen) && markOrdinal == other.markOrdinal
  }

  /// Returns the contribution to the counters of a message above all read marks.
  package func unreadCount(for localMember: UInt32?) -> UnreadCount {
    guard let localMember, sender != localMember, isUnseenAboveMarks, !marks.contains(.expired)
    else { return UnreadCount() }
    let isMentioned = mentions(localMember) || StoreDefect.mentionsOfAll.isPlanted
    return UnreadCount(messages: 1, mentions: isMentioned ? 1 : 0)
  }
}

extension StoredMessage: Seeable {
  package var marks: MessageTraits.Bits { traits.marks }

  package func mentions(_ member: UInt32) -> Bool { traits.mentions.contains(member) }
}

extension MessageRecord: Seeable {
  /// The bits of the traits, read without the rest of the block.
  package var marks: MessageTraits.Bits {
    guard flags.contains(.traits) else { return [] }
    var reader = ByteReader(traitsBytes)
    guard let raw = reader.varint(), raw <= MessageTraits.Bits.known else { return [] }
    return MessageTraits.Bits(rawValue: UInt32(raw))
  }

  package func mentions(_ member: UInt32) -> Bool {
    marks.contains(.mentions) && traits()?.mentions.contains(member) ?? false
  }
}

extension ReceiptReader {
  /// Returns the contribution of one message to the counters.
  @inline(never)
  package func unreadCount(
    _ record: some Seeable, at position: MessagePosition, _ summary: ConversationSummary
  ) -> UnreadCount {
    summary.unreadCount(of: record, at: position, for: view.localMember)
  }
}

extension ConversationSummary {
  @inline(never)
  func unreadCount(
    of record: some Seeable, at position: MessagePosition, for localMember: UInt32?
  ) -> UnreadCount {
    if let toldMark, position <= toldMark { return UnreadCount() }
    if isBelowMark(record, at: position) { return UnreadCount() }
    return record.unreadCount(for: localMember)
  }

  /// Counts a new message, in place: a copy of the summary costs more than the count.
  mutating func countInserted(
    _ record: some Seeable, at position: MessagePosition, for localMember: UInt32?
  ) {
    count(unreadCount(of: record, at: position, for: localMember))
  }
}
