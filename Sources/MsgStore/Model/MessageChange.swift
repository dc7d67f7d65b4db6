/// What one or several commits have made of one message.
///
/// Where it was before and where it is now say nearly all: changes that follow each other have the
/// first place of the first and the last of the last.
public struct MessageChange: Sendable, Hashable {
  /// Where it was before; nil: it was not there.
  public let from: Position?
  /// Where it is now; nil: it is there no more.
  public let to: Position?
  /// What is different of a message that was there before and is there now.
  public let parts: Parts

  /// What is different of a message.
  public struct Parts: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt16
    /// Parts with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Its place in the thread.
    public static let place = Parts(rawValue: 1)
    /// Its text, whom it mentions, or the history of both.
    public static let text = Parts(rawValue: 2)
    /// How sending or editing it goes, as the server or the client has said it.
    public static let status = Parts(rawValue: 4)
    /// Who has received or read it, as may be when it has come to another place.
    ///
    /// Most receipts are not of one message; see `ConversationChanges.delivery`.
    public static let delivery = Parts(rawValue: 8)
    /// Its reactions.
    public static let reactions = Parts(rawValue: 16)
    /// What comes with it, or how far the bytes of that are.
    public static let attachments = Parts(rawValue: 32)
    /// Whether it was taken back, and with that all it shows.
    public static let deletion = Parts(rawValue: 64)
    /// Anything else: sender, local time, what it answers, the names that lead to it.
    public static let other = Parts(rawValue: 128)
    /// All of them but the place.
    static let content = Parts(rawValue: 254)
  }

  /// What has become of a message.
  public enum Kind: Sendable, Hashable {
    /// It has come.
    case inserted
    /// It is at another place, and may be different otherwise.
    case moved
    /// It is different, at the place where it was.
    case changed
    /// It has gone.
    case removed
  }

  /// What has become of it.
  public var kind: Kind {
    guard let from else { return .inserted }
    guard let to else { return .removed }
    return from == to ? .changed : .moved
  }

  /// nil when nothing is different.
  init?(from: Position?, to: Position?, _ parts: Parts = []) {
    self.from = from
    self.to = to
    switch (from, to) {
    case (nil, nil): return nil
    case (let from?, let to?):
      // Receipts up to a place may count for it there.
      self.parts = from == to ? parts.subtracting(.place) : parts.union([.place, .delivery])
      if self.parts.isEmpty { return nil }
    default: self.parts = []
    }
  }

  /// Both together, or nil when they come to nothing.
  func followed(by later: MessageChange) -> MessageChange? {
    // Another message may have come under the name of one that had gone.
    let isReplaced = to == nil && later.from == nil
    return MessageChange(
      from: from, to: later.to, isReplaced ? .content : parts.union(later.parts))
  }
}
