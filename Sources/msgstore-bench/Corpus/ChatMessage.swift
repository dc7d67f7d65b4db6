/// A message of the corpus, before an engine converts it to its own form.
///
/// Every acknowledged message is later than all others of its conversation, and its sequence is its
/// place there, counted from 1. So the result of any query is known in advance.
struct ChatMessage {
  /// The index into the corpus' conversations.
  var conversation: Int
  var id: String
  var sender: String
  var text: String
  /// Microseconds since 1970; nil while pending.
  var serverTime: Int64?
  var sequence: Int64?
  /// Microseconds since 1970; known only for the local member's own messages.
  var localTime: Int64?
  /// The raw value of `MessageStatus`, which SQLite stores as well.
  var status: UInt8
  var replyTo: String?
  /// The time of the last edit, in microseconds since 1970.
  var editedAt: Int64?
  /// The mentions, reactions and attachments, if any.
  var extras: MessageExtras?
}

/// A conversation of the corpus.
struct CorpusConversation {
  var id: String
  var participants: [String]
  var title: String?
}

/// The member who owns the store; their own messages are never unread.
let localMember = "me"

/// A source of messages.
protocol Corpus {
  /// One line for the report's header.
  var summary: String { get }
  var conversations: [CorpusConversation] { get }
  /// True if an import gets a few messages late; see `LateArrivals`.
  var hasLateArrivals: Bool { get }
  /// Returns an endless stream that yields the same messages in the same order each time.
  func makeStream() -> any MessageStream
}

protocol MessageStream {
  /// Returns the next message, in the given conversation or in one drawn as in the corpus.
  mutating func next(in conversation: Int?) -> ChatMessage
}

extension MessageStream {
  mutating func next() -> ChatMessage {
    next(in: nil)
  }

  mutating func next(count: Int, in conversation: Int? = nil) -> [ChatMessage] {
    (0..<count).map { _ in next(in: conversation) }
  }
}
