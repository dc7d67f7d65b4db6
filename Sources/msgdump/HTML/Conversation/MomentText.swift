package import MsgStore

/// A moment as people read it: a day and a time of day.
package struct MomentText: Sendable, Hashable {
  /// The day in words: `Monday, 2 March 2026`.
  package var day: String
  /// The time of day: `18:05`.
  package var time: String

  package init(day: String, time: String) {
    self.day = day
    self.time = time
  }

  private static let weekdays = [
    "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
  ]
  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]
  private static let minuteMicroseconds: Int64 = 60_000_000
  private static let dayMinutes: Int64 = 1440

  /// Returns a moment in UTC.
  package static func utc(_ time: Timestamp) -> MomentText {
    let minutes = floored(time.microseconds, by: minuteMicroseconds).quotient
    let (days, minute) = floored(minutes, by: dayMinutes)
    let (year, month, day) = UTCCalendar.date(days: days)
    // 1 January 1970 was a Thursday.
    let weekday = weekdays[Int(floored(days, by: 7).rest)]
    return MomentText(
      day: "\(weekday), \(day) \(months[Int(month) - 1]) \(year)",
      time: "\(twoDigits(minute / 60)):\(twoDigits(minute % 60))")
  }

  private static func floored(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }

  private static func twoDigits(_ number: Int64) -> String { "\(number < 10 ? "0" : "")\(number)" }
}

/// The form in which a page shows moments.
package struct MomentFormat: Sendable {
  /// The zone of all times on the page, for its head: `UTC`.
  package let zone: String
  package let text: @Sendable (Timestamp) -> MomentText

  package init(zone: String, _ text: @escaping @Sendable (Timestamp) -> MomentText) {
    self.zone = zone
    self.text = text
  }

  /// Moments in UTC.
  package static let utc = MomentFormat(zone: "UTC", MomentText.utc)

  /// Moments in the time zone of a command's output.
  init(_ times: TimeFormat) {
    self.init(zone: times.isUTC ? "UTC" : "local time") { MomentText.utc(times.asRead($0)) }
  }
}
