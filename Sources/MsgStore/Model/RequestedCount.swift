/// Counts that callers ask for.
extension Int {
  /// The greatest count that is asked for.
  ///
  /// No list is as long, and a sum of a few does not overflow.
  static let maximumRequest = 1 << 40

  /// The count, or the greatest one if it exceeds that.
  var clampedRequest: Int {
    StoreDefect.requestsUnclamped.isPlanted ? self : Swift.min(self, Self.maximumRequest)
  }

  /// Returns the count, clamped to the greatest one; refuses a count below 1.
  func validatedRequest() throws(StoreError) -> Int {
    guard self >= 1 else { throw .input(.count(self)) }
    return clampedRequest
  }

  /// Refuses a number outside of a range.
  func validate(
    _ what: InputFault.Number, in allowed: ClosedRange<Int>
  ) throws(StoreError) {
    guard allowed.contains(self) else {
      throw .input(.outOfRange(what, self, allowed: allowed))
    }
  }
}
