/// Who must have a message before all have it: the one place that knows about membership.
package struct Recipient: Hashable {
  package let number: UInt32
  /// When the member came; nil: was there ever since.
  let joined: Int64?

  /// Whether the member took part when a message was sent.
  func wasIn(at position: Position) -> Bool { joined.map { $0 <= position.place.time } ?? true }

  /// How far the member counts as having come: everything before joining is not waited for.
  func reached(_ mark: Position?) -> Position? {
    if StoreDefect.joiningIgnored.isPlanted { return mark }
    return latest(mark, joined.map { Position(.acknowledged($0, sequence: .min), "") })
  }
}

extension ConversationMembers {
  /// Active members but one, by their numbers.
  package func recipients(without member: UInt32?) -> [Recipient] {
    members.filter { $0.isActive && $0.number != member }
      .map { Recipient(number: $0.number, joined: $0.joinedAt) }
  }
}
