/// A moment: microseconds since 1970, UTC.
///
/// The moments reach 292,000 years to either side. What is given in a larger unit and lies beyond
/// becomes the first or the last of them: times come from servers, and none of them is a reason to
/// stop.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Microseconds since 1970, UTC; any value is allowed.
  public var microseconds: Int64

  /// A moment given in microseconds since 1970.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// A moment given in milliseconds since 1970; the nearest there is where that is too far away.
  public init(milliseconds: Int64) { self.init(milliseconds, of: 1000) }

  /// A moment given in seconds since 1970; the nearest there is where that is too far away.
  public init(seconds: Int64) { self.init(seconds, of: 1_000_000) }

  /// A moment given in milliseconds since 1970 with a fraction, as some servers do.
  ///
  /// Rounded to the nearest microsecond, halves up; the nearest moment there is where that is too
  /// far away. nil when it is infinite or no number.
  public init?(milliseconds: some BinaryFloatingPoint) { self.init(Double(milliseconds), of: 1000) }

  /// A moment given in seconds since 1970 with a fraction, as some servers do.
  ///
  /// Rounded to the nearest microsecond, halves up; the nearest moment there is where that is too
  /// far away. nil when it is infinite or no number.
  public init?(seconds: some BinaryFloatingPoint) { self.init(Double(seconds), of: 1_000_000) }

  private init(_ units: Int64, of unit: Int64) {
    let (product, isTooFar) = units.multipliedReportingOverflow(by: unit)
    microseconds = isTooFar ? (units < 0 ? .min : .max) : product
  }

  private init?(_ units: Double, of unit: Int64) {
    guard units.isFinite else { return nil }
    // The whole units and the rest apart: their product in one has too few digits for microseconds
    // in a few thousand years.
    let whole = units.rounded(.down)
    let rest = Int64(((units - whole) * Double(unit)).rounded())
    let moment = Timestamp(Int64(clamping: whole), of: unit)
    let (sum, isTooFar) = moment.microseconds.addingReportingOverflow(rest)
    microseconds = isTooFar ? .max : sum
  }

  /// Whole milliseconds since 1970, rounded down: to the earlier moment, also before 1970.
  public var millisecondsSince1970: Int64 {
    let (quotient, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// Seconds since 1970, as near as a `Double` comes: to the microsecond for some 280 years around
  /// 1970.
  public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }

  /// The earlier of two moments comes first.
  public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
}

extension Int64 {
  /// The nearest number to a finite one without a fraction.
  fileprivate init(clamping whole: Double) {
    self = Int64(exactly: whole) ?? (whole < 0 ? .min : .max)
  }
}
