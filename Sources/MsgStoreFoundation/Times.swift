public import Foundation
public import MsgStore

extension Timestamp {
  /// Creates the time of a date, rounded to the nearest microsecond and clamped to the range.
  ///
  /// A date of infinity is clamped; one that is not a number counts as 1970.
  public init(_ date: Date) {
    let seconds = date.timeIntervalSince1970
    self =
      Timestamp(seconds: seconds)
      ?? Timestamp(microseconds: seconds > 0 ? .max : seconds < 0 ? .min : 0)
  }

  /// The time as a date, to the precision of a `Double`: a microsecond within some 280 years of
  /// 1970.
  public var date: Date { Date(self) }
}

extension Date {
  /// Creates the date of a time, to the precision of a `Double`.
  public init(_ timestamp: Timestamp) {
    self.init(timeIntervalSince1970: timestamp.secondsSince1970)
  }
}

extension Duration {
  /// Creates the duration of a time interval in seconds, clamped to 292,000 years either way.
  ///
  /// An interval that is not a number counts as zero.
  public init(_ interval: TimeInterval) {
    let time =
      Timestamp(seconds: interval)
      ?? Timestamp(microseconds: interval > 0 ? .max : interval < 0 ? .min : 0)
    self = .microseconds(time.microseconds)
  }

  /// The duration in seconds, to the precision of a `Double`.
  public var timeInterval: TimeInterval {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
