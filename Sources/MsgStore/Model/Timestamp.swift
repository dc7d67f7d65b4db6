/// A point in time: microseconds since 1970, UTC.
///
/// The range is 292,000 years in either direction. Times given in a larger unit are clamped to it:
/// they come from servers, and an odd one is no reason to stop. A store takes only plausible ones:
/// see `plausibleRange`.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Microseconds since 1970, UTC; any value is allowed.
  public var microseconds: Int64

  /// Creates a time from microseconds since 1970.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates a time from milliseconds since 1970, clamped to the range.
  public init(milliseconds: Int64) { self.init(milliseconds, of: 1000) }

  /// Creates a time from seconds since 1970, clamped to the range.
  public init(seconds: Int64) { self.init(seconds, of: 1_000_000) }

  /// Creates a time from fractional milliseconds since 1970, as some servers send them.
  ///
  /// Rounds to the nearest microsecond, halves up, and clamps to the range. Returns nil for
  /// infinity and NaN.
  public init?(milliseconds: some BinaryFloatingPoint) { self.init(Double(milliseconds), of: 1000) }

  /// Creates a time from fractional seconds since 1970, as some servers send them.
  ///
  /// Rounds to the nearest microsecond, halves up, and clamps to the range. Returns nil for
  /// infinity and NaN.
  public init?(seconds: some BinaryFloatingPoint) { self.init(Double(seconds), of: 1_000_000) }

  private init(_ units: Int64, of unit: Int64) {
    let (product, isTooFar) = units.multipliedReportingOverflow(by: unit)
    microseconds = isTooFar ? (units < 0 ? .min : .max) : product
  }

  private init?(_ units: Double, of unit: Int64) {
    guard units.isFinite else { return nil }
    // Whole units and the remainder are converted separately: a few thousand years from 1970, a
    // single product has too few digits for microseconds.
    let whole = units.rounded(.down)
    let rest = Int64(((units - whole) * Double(unit)).rounded())
    let moment = Timestamp(Int64(clamping: whole), of: unit)
    let (sum, isTooFar) = moment.microseconds.addingReportingOverflow(rest)
    microseconds = isTooFar ? .max : sum
  }

  /// Whole milliseconds since 1970, rounded down to the earlier time, also before 1970.
  public var millisecondsSince1970: Int64 {
    let (quotient, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// Seconds since 1970, to the precision of a `Double`: a microsecond within some 280 years of
  /// 1970.
  public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }

  /// The times that a store takes: from 1970 to the end of 2199.
  ///
  /// A time outside is refused as `input(.implausibleTime)`, whatever it is the time of. Usually a
  /// server's milliseconds were read as seconds, or its microseconds as milliseconds. Such a
  /// message would lead its thread and the list of conversations for ever. Seconds that are read
  /// as milliseconds give a time in January 1970, which cannot be told from a true one.
  public static let plausibleRange =
    Timestamp(microseconds: 0)...Timestamp(microseconds: 7_258_118_399_999_999)

  /// Refuses a time that is not plausible.
  @inline(__always)
  func validate() throws(StoreError) {
    guard (0...7_258_118_399_999_999).contains(microseconds) else {
      throw .input(.implausibleTime(self))
    }
  }

  /// The nearest plausible time.
  package var nearestPlausible: Timestamp {
    min(max(self, Self.plausibleRange.lowerBound), Self.plausibleRange.upperBound)
  }

  /// Orders by time.
  public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
}

extension Int64 {
  /// Creates the nearest number to a finite value without a fraction.
  fileprivate init(clamping whole: Double) {
    self = Int64(exactly: whole) ?? (whole < 0 ? .min : .max)
  }
}
