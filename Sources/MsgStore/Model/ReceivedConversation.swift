/// What the server says of a conversation, or another device through it.
///
/// Everything but the name and the time may be left out: nil stands for "not told" and changes nothing.
/// Several of these may come in any order, and any number of times; each fact has the time of the
/// version that it came in, and the newest one counts.
public struct ReceivedConversation: Sendable, Hashable {
  /// Somebody who takes part, or did.
  public struct Member: Sendable, Hashable {
    /// Who it is.
    public var id: MemberID
    /// Whether they take part.
    public var isActive: Bool
    /// When they joined.
    public var joinedAt: Timestamp?

    /// Somebody who takes part, but for what is given.
    public init(_ id: MemberID, isActive: Bool = true, joinedAt: Timestamp? = nil) {
      self.id = id
      self.isActive = isActive
      self.joinedAt = joinedAt
    }
  }

  /// A text that may also have been taken away.
  public enum Text: Sendable, Hashable {
    /// There is none any more.
    case removed
    /// There is this one.
    case text(String)

    /// A text as a server tells it that sends whole versions: nil stands for "there is none".
    ///
    /// What is not told at all is nil in `ReceivedConversation`.
    public init(_ text: String?) {
      self = if let text { .text(text) } else { .removed }
    }
  }

  /// Its name.
  public var id: ConversationID
  /// The time of this version.
  public var at: Timestamp
  /// What kind it is.
  ///
  /// Who says group is right against who says direct.
  public var kind: ConversationKind?
  /// Some of the members, or all.
  public var members: [Member] = []
  /// Whether `members` are all: whoever is not among them does not take part.
  public var hasAllMembers = false
  /// What it is called.
  public var title: Text?
  /// A reference to its picture.
  public var avatar: Text?
  /// Who made it.
  public var createdBy: MemberID?
  /// When it was made; of several times the earliest counts.
  public var createdAt: Timestamp?
  /// Whether it stays on top of the list.
  public var isPinned: Bool?
  /// Whether its messages make no sound.
  public var isMuted: Bool?
  /// Whether it is out of the list.
  public var isArchived: Bool?
  /// What has been begun on another device; an empty text without reply for what was given up.
  ///
  /// Its own time counts.
  public var draft: Draft?

  /// A version of which nothing is told yet.
  public init(_ id: ConversationID, at: Timestamp) {
    self.id = id
    self.at = at
  }
}
