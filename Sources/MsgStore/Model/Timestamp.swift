/// A moment: microseconds since 1970, UTC.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Microseconds since 1970, UTC; any value is allowed.
  public var microseconds: Int64

  /// A moment given in microseconds since 1970.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// A moment given in milliseconds since 1970.
  ///
  /// Traps beyond 292,000 years on either side.
  public init(milliseconds: Int64) { microseconds = milliseconds * 1000 }

  /// A moment given in seconds since 1970.
  ///
  /// Traps beyond 292,000 years on either side.
  public init(seconds: Int64) { microseconds = seconds * 1_000_000 }

  /// The earlier of two moments comes first.
  public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
}
