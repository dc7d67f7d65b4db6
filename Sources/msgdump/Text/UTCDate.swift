package import MsgStore

/// Points in time as people write them, in UTC: `2024-01-31T18:05:09.250Z`.
package enum UTCDate {
  private static let secondMicroseconds: Int64 = 1_000_000
  private static let daySeconds: Int64 = 86_400

  /// Formats a time with its milliseconds, and with its microseconds if it has any.
  package static func format(_ time: Timestamp) -> String {
    let (seconds, fraction) = time.microseconds.flooredDivision(by: secondMicroseconds)
    let (days, secondOfDay) = seconds.flooredDivision(by: daySeconds)
    let (year, month, day) = civilDate(days: days)
    let millisecond = fraction.isMultiple(of: 1000)
    let digits = millisecond ? padded(fraction / 1000, 3) : padded(fraction, 6)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
      + "T\(padded(secondOfDay / 3600, 2)):\(padded(secondOfDay / 60 % 60, 2))"
      + ":\(padded(secondOfDay % 60, 2)).\(digits)Z"
  }

  /// Parses a date, alone or with a time of day after a `T` or a blank.
  ///
  /// Examples: `2024-01-31`, `2024-01-31 18:05`, `2024-01-31T18:05:09.25+02:00`. Without a zone the
  /// time is UTC. Returns nil if the text is malformed.
  package static func parse(_ text: String) -> Timestamp? {
    var rest = Substring(text)
    guard let year = rest.takeNumber(digits: 4), rest.take("-"),
      let month = rest.takeNumber(digits: 2), rest.take("-"), let day = rest.takeNumber(digits: 2)
    else { return nil }
    let days = days(year: year, month: month, day: day)
    guard civilDate(days: days) == (year, month, day) else { return nil }
    var microseconds = days * daySeconds * secondMicroseconds
    if rest.take("T") || rest.take(" ") {
      guard let timeOfDay = takeTimeOfDay(&rest) else { return nil }
      microseconds += timeOfDay
      guard let offset = takeZone(&rest) else { return nil }
      microseconds -= offset
    }
    return rest.isEmpty ? Timestamp(microseconds: microseconds) : nil
  }

  private static func takeTimeOfDay(_ rest: inout Substring) -> Int64? {
    guard let hour = rest.takeNumber(digits: 2), hour < 24, rest.take(":"),
      let minute = rest.takeNumber(digits: 2), minute < 60
    else { return nil }
    var microseconds = (hour * 3600 + minute * 60) * secondMicroseconds
    if rest.take(":") {
      guard let second = rest.takeNumber(digits: 2), second < 60 else { return nil }
      microseconds += second * secondMicroseconds
      if rest.take(".") {
        var unit = secondMicroseconds / 10
        guard let first = rest.takeNumber(digits: 1) else { return nil }
        microseconds += first * unit
        while let digit = rest.takeNumber(digits: 1) {
          unit /= 10
          microseconds += digit * unit
        }
      }
    }
    return microseconds
  }

  /// Takes the zone's offset from UTC in microseconds, positive east of Greenwich.
  private static func takeZone(_ rest: inout Substring) -> Int64? {
    if rest.isEmpty || rest.take("Z") { return 0 }
    let sign: Int64
    if rest.take("+") {
      sign = 1
    } else if rest.take("-") {
      sign = -1
    } else {
      return nil
    }
    guard let hour = rest.takeNumber(digits: 2), hour < 24, rest.take(":"),
      let minute = rest.takeNumber(digits: 2), minute < 60
    else { return nil }
    return sign * (hour * 3600 + minute * 60) * secondMicroseconds
  }

  private static func padded(_ number: Int64, _ digitCount: Int) -> String {
    let digits = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, digitCount - digits.utf8.count))
    return (number < 0 ? "-" : "") + zeros + digits
  }

  // The calendar repeats every 400 years, which are 146,097 days. Here years are counted from the
  // first of March, so that the leap day is the last day of a year.

  private static let eraDays: Int64 = 146_097
  /// The number of days from 1 March of the year 0 to 1 January 1970.
  private static let epochDays: Int64 = 719_468

  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let (era, yearOfEra) = marchYear.flooredDivision(by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * eraDays + dayOfEra - epochDays
  }

  private static func civilDate(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

extension Int64 {
  /// Returns quotient and remainder, rounded so that the remainder is never negative.
  fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension Substring {
  fileprivate mutating func take(_ character: Character) -> Bool {
    guard first == character else { return false }
    removeFirst()
    return true
  }

  /// Takes a number of exactly `digitCount` decimal digits.
  fileprivate mutating func takeNumber(digits digitCount: Int) -> Int64? {
    let digits = prefix(digitCount)
    guard digits.utf8.count == digitCount, digits.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    removeFirst(digitCount)
    return Int64(digits)
  }
}
