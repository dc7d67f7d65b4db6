/// The Gregorian calendar, extended to all years, without leap seconds.
///
/// It repeats every 400 years, which are 146,097 days. Here years are counted from the first of
/// March, so that the leap day is the last day of a year.
package enum UTCCalendar {
  private static let eraDays: Int64 = 146_097
  /// The number of days from 1 March of the year 0 to 1 January 1970.
  private static let epochDays: Int64 = 719_468

  /// Returns the number of days from 1 January 1970 to a date.
  package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let (era, yearOfEra) = marchYear.flooredDivision(by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * eraDays + dayOfEra - epochDays
  }

  /// Returns the date that is a number of days after 1 January 1970.
  package static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + epochDays).flooredDivision(by: eraDays)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / (eraDays - 1)) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}

extension Timestamp: CustomStringConvertible {
  private static let daySeconds: Int64 = 86_400

  /// The time in UTC as in RFC 3339, with milliseconds, and with microseconds if it has any:
  /// `2024-01-31T18:05:09.250Z`.
  ///
  /// Years above 9999 have more digits.
  public var description: String {
    let (seconds, fraction) = microseconds.flooredDivision(by: 1_000_000)
    let (days, second) = seconds.flooredDivision(by: Self.daySeconds)
    let (year, month, day) = UTCCalendar.date(days: days)
    let digits = fraction.isMultiple(of: 1000) ? (fraction / 1000).padded(3) : fraction.padded(6)
    return "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))"
      + "T\((second / 3600).padded(2)):\((second / 60 % 60).padded(2))"
      + ":\((second % 60).padded(2)).\(digits)Z"
  }
}

extension Int64 {
  /// Returns quotient and remainder, rounded so that the remainder is never negative.
  fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// Returns the decimal digits, with zeros before them up to a number of digits.
  fileprivate func padded(_ digitCount: Int) -> String {
    let digits = String(magnitude)
    let zeros = String(repeating: "0", count: Swift.max(0, digitCount - digits.utf8.count))
    return (self < 0 ? "-" : "") + zeros + digits
  }
}
