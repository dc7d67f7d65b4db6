import PageFile

/// Which messages the local member has not read, and how many they are.
///
/// See docs/message-format.md, U-1 … U-8.
///
/// A conversation has two read marks: the place up to which everything was read here, and the place
/// up to which the server says that it was read on any device. A message is unseen when it came
/// live, was not read by its name, lies above the mark that was told, and
///  1. lies above the mark made here, or
///  2. came to lie below it after it was made: then its record has the mark ordinal of that moment,
///     and the ordinal is still the same. Each change of the mark increases the ordinal.
///
/// An unseen message of somebody else is unread. The number is stored and changed with each message,
/// so reading it costs nothing and marking a thread read up to its end is one small record.
extension ConversationSummary {
  package func isUnseen(_ record: some Seeable, at position: Position) -> Bool {
    if let toldMark, position <= toldMark { return false }
    return isUnseenHere(record, at: position)
  }

  /// Whether nothing that was done here has covered a message: what a message keeps when it moves,
  /// while the mark that was told covers it or not by its place alone.
  func isUnseenHere(_ record: some Seeable, at position: Position) -> Bool {
    let isHistory = record.flags.contains(.history) && !StoreDefect.historyUnread.isPlanted
    guard !isHistory, !record.marks.contains(.seen) else { return false }
    guard let mark, position <= mark else { return true }
    return record.markOrdinal == markOrdinal
  }

  /// Above this place every message is unseen that has not been read by its name.
  var seenUpTo: Position? { latest(mark, toldMark) }

  /// Adds messages to the counters, or takes them out.
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

/// How many messages are unread, and how many of these name the local member.
package struct UnreadCount: Hashable {
  package var messages = 0
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

/// A message as far as it matters to whether it was seen: packed or unpacked.
package protocol Seeable {
  var flags: MessageRecord.Flags { get }
  var sender: UInt32 { get }
  var marks: MessageTraits.Bits { get }
  var markOrdinal: UInt64? { get }
  func mentions(_ member: UInt32) -> Bool
}

extension StoredMessage: Seeable {
  package var marks: MessageTraits.Bits { traits.marks }

  package func mentions(_ member: UInt32) -> Bool { traits.mentions.contains(member) }
}

extension MessageRecord: Seeable {
  /// Those bits of the traits that say nothing but themselves, without reading the rest.
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
  /// What one message contributes to the counters.
  package func unreadCount(
    _ record: some Seeable, at position: Position, _ summary: ConversationSummary
  ) -> UnreadCount {
    guard let localMember = view.localMember, record.sender != localMember,
      summary.isUnseen(record, at: position)
    else { return UnreadCount() }
    let isMentioned = record.mentions(localMember) || StoreDefect.mentionsOfAll.isPlanted
    return UnreadCount(messages: 1, mentions: isMentioned ? 1 : 0)
  }
}
