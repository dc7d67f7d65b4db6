/// The change that one or more commits made to one message.
///
/// The former and the current position say nearly everything. Successive changes combine to the
/// first change's former position and the last change's current position. A message that came and
/// went again has neither, and is told all the same: somebody may have read the store in between.
public struct MessageChange: Sendable, Equatable {
  /// The former position; nil if the message did not exist.
  public let from: MessagePosition?
  /// The current position; nil if the message no longer exists.
  public let to: MessagePosition?
  /// The differences of a message that existed before and still exists.
  public let parts: Parts

  /// The parts of a message that can differ.
  public struct Parts: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt16
    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The place in the thread.
    public static let place = Parts(rawValue: 1)
    /// The text, the mentions, or the history of both.
    public static let text = Parts(rawValue: 2)
    /// The progress of sending or editing, as reported by the server or the client.
    public static let status = Parts(rawValue: 4)
    /// Delivery or reading, which may also differ because the message moved.
    ///
    /// Most receipts do not name a single message; see `ConversationChanges.delivery`.
    public static let delivery = Parts(rawValue: 8)
    /// The reactions.
    public static let reactions = Parts(rawValue: 16)
    /// The attachments or the progress of their transfers.
    public static let attachments = Parts(rawValue: 32)
    /// The message was retracted, which changes everything it shows.
    public static let deletion = Parts(rawValue: 64)
    /// Anything else: sender, local time, the answered message, the names that lead to the message.
    public static let other = Parts(rawValue: 128)
    /// The client's own fields or the kind.
    public static let ownFields = Parts(rawValue: 256)
    /// All parts but the place.
    static let content = Parts(rawValue: 510)
  }

  /// The kind of a change.
  public enum Kind: Sendable, Equatable {
    /// The message is new.
    case inserted
    /// The message is at another place and may also differ otherwise.
    case moved
    /// The message differs but kept its place.
    case changed
    /// The message is gone, if it was there before.
    case removed
  }

  /// The kind of this change.
  public var kind: Kind {
    guard let to else { return .removed }
    guard let from else { return .inserted }
    return from == to ? .changed : .moved
  }

  /// Creates a change; returns nil if nothing differs.
  ///
  /// - Parameters:
  ///   - from: The former position; nil if the message did not exist.
  ///   - to: The current position; nil if the message no longer exists.
  ///   - parts: The differences of a message that existed before and still exists.
  public init?(from: MessagePosition?, to: MessagePosition?, _ parts: Parts = []) {
    self.from = from
    self.to = to
    switch (from, to) {
    case (nil, nil): return nil
    case (let from?, let to?):
      // Receipts up to a place may apply to the message there.
      self.parts = from == to ? parts.subtracting(.place) : parts.union([.place, .delivery])
      if self.parts.isEmpty { return nil }
    default: self.parts = []
    }
  }

  /// The change of a message that came and went again.
  static let passing = MessageChange()

  private init() { (from, to, parts) = (nil, nil, []) }

  /// Returns both changes combined, or nil if they cancel out.
  func followed(by later: MessageChange) -> MessageChange? {
    // Another message may have arrived under the id of a removed one.
    let isReplaced = to == nil && later.from == nil
    return MessageChange(
      from: from, to: later.to, isReplaced ? .content : parts.union(later.parts))
  }
}
