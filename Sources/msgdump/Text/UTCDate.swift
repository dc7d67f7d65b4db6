package import MsgStore

/// Points in time as people write them.
package enum UTCDate {
  private static let secondMicroseconds: Int64 = 1_000_000
  private static let daySeconds: Int64 = 86_400

  /// Parses a date, alone or with a time of day after a `T` or a blank.
  ///
  /// Examples: `2024-01-31`, `2024-01-31 18:05`, `2024-01-31T18:05:09.25+02:00`. Without a zone the
  /// time is UTC. Returns nil if the text is malformed.
  package static func parse(_ text: String) -> Timestamp? { parts(text)?.time }

  /// Parses a date, and returns if it names its time zone.
  static func parts(_ text: String) -> (time: Timestamp, hasZone: Bool)? {
    var hasZone = false
    var rest = Substring(text)
    guard let year = rest.takeNumber(digits: 4), rest.take("-"),
      let month = rest.takeNumber(digits: 2), rest.take("-"), let day = rest.takeNumber(digits: 2)
    else { return nil }
    let days = UTCCalendar.days(year: year, month: month, day: day)
    guard UTCCalendar.date(days: days) == (year, month, day) else { return nil }
    var microseconds = days * daySeconds * secondMicroseconds
    if rest.take("T") || rest.take(" ") {
      guard let timeOfDay = takeTimeOfDay(&rest) else { return nil }
      microseconds += timeOfDay
      hasZone = !rest.isEmpty
      guard let offset = takeZone(&rest) else { return nil }
      microseconds -= offset
    }
    return rest.isEmpty ? (Timestamp(microseconds: microseconds), hasZone) : nil
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
