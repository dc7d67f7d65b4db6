/// The border of the messages that counters have let go, as a writer remembers it.
struct KnownExpiry {
  let border: ExpiryBorder?
  let hasBorder: Bool

  init(border: ExpiryBorder?) {
    self.border = border
    hasBorder = border != nil
  }
}

/// The expired messages that could not be erased, as a writer remembers them.
struct KnownErasure: Equatable {
  /// The last entry that was passed over.
  let passed: ExpiryKey
  /// The time from which all are looked at again.
  let retryTime: Int64
}
