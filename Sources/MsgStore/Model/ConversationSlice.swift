/// A part of the list of conversations, newest activity first.
public struct ConversationSlice: Sendable, Hashable, RandomAccessCollection {
  /// The position to continue from with `conversations(count:after:)`; nil at the end of the list.
  public let older: ConversationPosition?
  private let conversations: [Conversation]

  init(_ conversations: [Conversation], older: ConversationPosition?) {
    self.conversations = conversations
    self.older = older
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of conversations.
  public var endIndex: Int { conversations.count }
  /// The conversation at an index.
  ///
  /// Traps outside `indices`.
  public subscript(index: Int) -> Conversation { conversations[index] }
}
