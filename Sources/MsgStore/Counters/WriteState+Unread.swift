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
  func isUnseen(_ record: some Seeable, at position: Position) -> Bool {
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
struct UnreadCount: Hashable {
  var messages = 0
  var mentions = 0

  static func + (a: UnreadCount, b: UnreadCount) -> UnreadCount {
    UnreadCount(messages: a.messages + b.messages, mentions: a.mentions + b.mentions)
  }

  static func - (a: UnreadCount, b: UnreadCount) -> UnreadCount {
    UnreadCount(messages: a.messages - b.messages, mentions: a.mentions - b.mentions)
  }
}

/// A message as far as it matters to whether it was seen: packed or unpacked.
protocol Seeable {
  var flags: MessageRecord.Flags { get }
  var sender: UInt32 { get }
  var marks: MessageTraits.Bits { get }
  var markOrdinal: UInt64? { get }
  func mentions(_ member: UInt32) -> Bool
}

extension StoredMessage: Seeable {
  var marks: MessageTraits.Bits { traits.marks }

  func mentions(_ member: UInt32) -> Bool { traits.mentions.contains(member) }
}

extension MessageRecord: Seeable {
  /// Those bits of the traits that say nothing but themselves, without reading the rest.
  var marks: MessageTraits.Bits {
    guard flags.contains(.traits) else { return [] }
    var reader = ByteReader(traitsBytes)
    guard let raw = reader.varint(), raw <= MessageTraits.Bits.known else { return [] }
    return MessageTraits.Bits(rawValue: UInt32(raw))
  }

  func mentions(_ member: UInt32) -> Bool {
    marks.contains(.mentions) && traits()?.mentions.contains(member) ?? false
  }
}

extension ReceiptReader {
  /// What one message contributes to the counters.
  func unreadCount(
    _ record: some Seeable, at position: Position, _ summary: ConversationSummary
  ) -> UnreadCount {
    guard let localMember = view.localMember, record.sender != localMember,
      summary.isUnseen(record, at: position)
    else { return UnreadCount() }
    let isMentioned = record.mentions(localMember) || StoreDefect.mentionsOfAll.isPlanted
    return UnreadCount(messages: 1, mentions: isMentioned ? 1 : 0)
  }
}

struct UnreadCounts: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Counts a new message.
  func inserted(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) {
    let count = view.receipts.unreadCount(message, at: position, conversation.summary)
    conversation.summary.count(count)
  }

  /// Keeps across a move whether a message was seen, also if it crosses the read mark.
  func carry(
    from old: StoredMessage, at oldPosition: Position, to new: inout StoredMessage,
    at position: Position, _ conversation: OpenConversation
  ) {
    let isBelowMark = conversation.summary.mark.map { position <= $0 } ?? false
    let wasUnseen = conversation.summary.isUnseenHere(old, at: oldPosition)
    new.markOrdinal = wasUnseen && isBelowMark ? conversation.summary.markOrdinal : nil
    if !wasUnseen, !isBelowMark, !old.flags.contains(.history) {
      new.traits.marks.insert(.seen)
    }
  }

  /// Counts a changed message anew.
  func replaced(
    _ old: some Seeable, at oldPosition: Position, by new: some Seeable, at position: Position,
    in conversation: OpenConversation
  ) {
    if StoreDefect.unreadKept.isPlanted { return }
    let before = view.receipts.unreadCount(old, at: oldPosition, conversation.summary)
    let after = view.receipts.unreadCount(new, at: position, conversation.summary)
    if after != before { conversation.summary.count(after - before) }
  }

  /// Takes a message out of the counters.
  func removed(
    _ message: StoredMessage, from position: Position, in conversation: OpenConversation
  ) {
    let count = view.receipts.unreadCount(message, at: position, conversation.summary)
    conversation.summary.count(UnreadCount() - count)
  }

  /// How many messages behind a position are unread.
  ///
  /// Reads all of them.
  func countUnread(
    _ conversation: UInt32, _ summary: ConversationSummary, after position: Position
  ) throws(StoreError) -> UnreadCount {
    var count = UnreadCount()
    guard localMember != nil else { return count }
    var scan = try ThreadScan(flushed(), conversation, after: position)
    while let record = try scan.next() {
      count = count + view.receipts.unreadCount(record, at: try scan.position(), summary)
    }
    return count
  }

  /// How many messages are unread when one of the marks has gone forward to a position.
  ///
  /// What is left lies behind it; what was unread before lies on both sides. So the messages before
  /// and those behind are gone through by turns, and whichever come to their end first tell: marking
  /// costs no more for what it does not concern, be it on this side or on that.
  func countUnread(
    _ conversation: UInt32, _ summary: ConversationSummary, was old: ConversationSummary,
    after mark: Position
  ) throws(StoreError) -> UnreadCount {
    guard localMember != nil, old.unreadCount > 0 else { return UnreadCount() }
    var behind = try ThreadScan(flushed(), conversation, after: mark)
    // Mostly a thread is read up to its end, and then there is no need to look for the beginning.
    guard var record = try behind.next() else { return UnreadCount() }
    var left = UnreadCount()
    var covered = UnreadCount()
    let start = try flushed().delivery.unreadStart(conversation, old)
    var before = try ThreadScan(flushed(), conversation, from: start ?? .start)
    while true {
      left = left + view.receipts.unreadCount(record, at: try behind.position(), summary)
      guard let other = try before.next(), case let position = try before.position(),
        position <= mark
      else { return old.counted - covered }
      covered = covered + view.receipts.unreadCount(other, at: position, old)
      guard let next = try behind.next() else { return left }
      record = next
    }
  }
}

extension Transaction {
  var unreadCounts: UnreadCounts { UnreadCounts(self) }
}
