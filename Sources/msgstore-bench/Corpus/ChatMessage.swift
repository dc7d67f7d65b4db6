/// A message as the corpus gives it, before an engine makes its own form of it.
///
/// Every acknowledged message comes later than all others of its conversation, and its sequence
/// is its place there, counted from 1: so what any query must return is known without asking.
struct ChatMessage {
  /// Index into the corpus' conversations.
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
}

/// A conversation as the corpus gives it.
struct CorpusConversation {
  var id: String
  var participants: [String]
  var title: String?
}

/// The member whose store this is: their messages are never unread.
let localMember = "me"

/// Where messages come from.
protocol Corpus {
  /// One line for the report's header.
  var summary: String { get }
  var conversations: [CorpusConversation] { get }
  /// The same messages in the same order each time, without end.
  func makeStream() -> any MessageStream
}

protocol MessageStream {
  /// The next message, in a conversation drawn as in the corpus, or in the one given.
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
