/// A part of the list of conversations, newest activity first.
public struct ConversationSlice: Sendable, Hashable, RandomAccessCollection {
  /// The position to continue from with `conversations(count:after:)`; nil at the end of the list.
  public let older: ConversationPosition?
  private let conversations: [Conversation]

  /// Creates a list of given conversations, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - conversations: The conversations, in the order to show.
  ///   - older: The position to continue from.
  public init(_ conversations: [Conversation], older: ConversationPosition? = nil) {
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
