/// The value of the register that mutes a conversation.
///
/// See docs/message-format.md, C-8 and C-24.
package enum Mute: Equatable {
  /// The conversation is not muted.
  case off
  /// It is muted until a time, which has passed for good or may be in the future.
  case until(Int64, hasEnded: Bool)
  /// It is muted until this is cleared.
  case on

  /// Returns the one that counts of two of one time: the later end, and no end is the latest.
  func joined(with other: Mute) -> Mute {
    switch (self, other) {
    case (.on, _), (_, .on): .on
    case (.off, _): other
    case (_, .off): self
    case (.until(let a, let hasEnded), .until(let b, let otherHasEnded)):
      if a == b {
        .until(a, hasEnded: hasEnded || otherHasEnded)
      } else {
        a > b ? self : other
      }
    }
  }
}

extension ConversationDetails {
  /// Returns the value of the muted register, given the marks of the summary.
  package func mute(_ marks: ConversationSummary.Flags) -> Mute {
    if let mutedUntil { return .until(mutedUntil, hasEnded: hasMuteEnded) }
    return marks.contains(.muted) ? .on : .off
  }

  /// The end of the mute as the expiry tree has it; nil without one, or once it has ended for good.
  package var awaitedMuteEnd: Int64? { hasMuteEnded ? nil : mutedUntil }
}
