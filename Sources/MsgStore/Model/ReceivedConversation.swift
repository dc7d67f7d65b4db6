/// A version of a conversation received from the server, or from another device through it.
///
/// All fields but the id and the time are optional; nil means "not told" and changes nothing.
/// Versions may arrive in any order and any number of times. Each fact carries the time of its
/// version, and the newest one wins.
public struct ReceivedConversation: Sendable, Equatable {
  /// A current or former member.
  public struct Member: Sendable, Equatable {
    /// The identifier.
    public var id: MemberID
    /// True if the member takes part.
    public var isActive: Bool
    /// The time of joining.
    public var joinedAt: Timestamp?

    /// Creates a member; by default one that takes part.
    public init(_ id: MemberID, isActive: Bool = true, joinedAt: Timestamp? = nil) {
      self.id = id
      self.isActive = isActive
      self.joinedAt = joinedAt
    }
  }

  /// A text that may also have been removed.
  public enum Text: Sendable, Equatable {
    /// The text was removed.
    case removed
    /// The current text.
    case text(String)

    /// Creates a text as told by a server that sends whole versions: nil means that there is no
    /// text.
    ///
    /// A text that is not told at all is nil in `ReceivedConversation`.
    public init(_ text: String?) {
      self = if let text { .text(text) } else { .removed }
    }
  }

  /// The identifier.
  public var id: ConversationID
  /// The time of this version.
  public var at: Timestamp
  /// The kind.
  ///
  /// If sources disagree, group wins over direct.
  public var kind: ConversationKind?
  /// Some of the members, or all of them.
  public var members: [Member] = []
  /// True if `members` is the complete list; anyone not in it does not take part.
  public var hasAllMembers = false
  /// The title.
  public var title: Text?
  /// The reference of the picture.
  public var avatar: Text?
  /// The member who created the conversation.
  public var createdBy: MemberID?
  /// The time of creation; of several times the earliest wins.
  public var createdAt: Timestamp?
  /// True if the conversation stays at the top of the list.
  public var isPinned: Bool?
  /// True if its messages make no sound.
  public var isMuted: Bool?
  /// The time at which the mute ends; nil if it ends when it is cleared.
  ///
  /// It is a part of ``isMuted``, and counts for nothing unless that is true. It may have passed.
  /// Of two versions of one time the one with the later end wins.
  public var mutedUntil: Timestamp?
  /// True if it is hidden from the main list.
  public var isArchived: Bool?
  /// True if the local member has marked it as unread on another device.
  public var isMarkedUnread: Bool?
  /// The draft begun on another device; an empty text without a reply means that it was discarded.
  ///
  /// The draft's own time decides.
  public var draft: Draft?

  /// Creates a version without any facts.
  public init(_ id: ConversationID, at: Timestamp) {
    self.id = id
    self.at = at
  }
}
