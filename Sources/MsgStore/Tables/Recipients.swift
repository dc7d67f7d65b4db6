/// A member who must have a message before all have it.
///
/// This is the only place that knows about membership.
package struct Recipient: Hashable {
  package let number: UInt32
  /// The time of joining, or nil if the member has taken part from the start.
  let joined: Int64?

  /// Returns true if the member took part when a message was sent.
  func wasIn(at position: MessagePosition) -> Bool {
    joined.map { $0 <= position.place.time } ?? true
  }

  /// Returns the mark that the member counts as having reached.
  ///
  /// Everything before joining is covered.
  func reached(_ mark: MessagePosition?) -> MessagePosition? {
    if StoreDefect.joiningIgnored.isPlanted { return mark }
    return latest(mark, joined.map { MessagePosition(.acknowledged($0, sequence: .min), "") })
  }
}

extension ConversationMembers {
  /// Returns the active members except one, in order of their numbers.
  package func recipients(without member: UInt32?) -> [Recipient] {
    members.filter { $0.isActive && $0.number != member }
      .map { Recipient(number: $0.number, joined: $0.joinedAt) }
  }
}
