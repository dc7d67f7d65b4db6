/// The border of the messages that counters have let go, as a writer remembers it.
struct KnownExpiry {
  let border: ExpiryBorder?
  let hasBorder: Bool

  init(border: ExpiryBorder?) {
    self.border = border
    hasBorder = border != nil
  }
}

/// The entry in whose messages a step of erasing has ended, as a writer remembers it.
///
/// Beside many messages of one moment that stay, the next step does not pass over them again.
struct BegunErasure {
  let entry: ExpiryKey
  /// No message of the entry lies before it, unless it was passed over.
  let position: MessagePosition
  /// True if a message was passed over that may be on its way.
  let hasPassed: Bool
}

/// The expired messages that could not be erased, as a writer remembers them.
struct KnownErasure: Equatable {
  /// The last entry that was passed over.
  let passed: ExpiryKey
  /// The time from which all are looked at again.
  let retryTime: Int64
}
