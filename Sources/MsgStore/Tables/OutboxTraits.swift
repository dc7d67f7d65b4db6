/// The properties of a kind of outbox entry.
struct OutboxTraits: OptionSet {
  let rawValue: UInt8

  /// The message must be sent before the server can be told this about it.
  static let afterMessage = Self(rawValue: 1 << 0)
  /// Other entries may depend on it.
  static let needed = Self(rawValue: 1 << 1)
  /// The entry holds content of its own, rather than naming where it is stored.
  static let content = Self(rawValue: 1 << 2)
  /// The entry may be about no conversation.
  static let anywhere = Self(rawValue: 1 << 3)
  /// The entry has no place in the order of its conversation.
  static let unordered = Self(rawValue: 1 << 4)
}

extension OutboxSubject {

  private var traits: OutboxTraits {
    switch self {
    case .send: .needed
    case .edit: .afterMessage
    case .retract: [.afterMessage, .needed]
    case .react: [.afterMessage, .content]
    // The message waits for it.
    case .upload: [.needed, .unordered]
    case .setMessageField: [.afterMessage, .content]
    case .setConversationField: .content
    case .setMemberField, .client: [.content, .anywhere]
    case .receipt, .createConversation, .deleteConversation, .leaveConversation, .changeMembers,
      .setTitle, .setAvatar:
      []
    }
  }

  var needsMessage: Bool { traits.contains(.afterMessage) }
  var isNeeded: Bool { traits.contains(.needed) }
  var hasContent: Bool { traits.contains(.content) }
  package var isOfNoConversation: Bool { traits.contains(.anywhere) }
  package var isInOrder: Bool { !traits.contains(.unordered) }
  package var isReceipt: Bool { if case .receipt = self { true } else { false } }
  var isRetraction: Bool { if case .retract = self { true } else { false } }
}
