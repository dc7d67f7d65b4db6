package import MsgStore

/// The form in which a command prints times: in UTC, or in the time zone of this computer.
package struct TimeFormat {
  private static let secondMicroseconds: Int64 = 1_000_000

  /// Returns the offset of a time zone from UTC in seconds at a time in seconds since 1970.
  private let offset: @Sendable (Int64) -> Int64
  let isUTC: Bool

  /// Times in UTC, which end with `Z`.
  package static let utc = TimeFormat(offset: { _ in 0 }, isUTC: true)
  /// Times in the time zone of this computer, which end with its offset at that time.
  static let local = TimeFormat(offset: System.offsetFromUTC, isUTC: false)

  private init(offset: @escaping @Sendable (Int64) -> Int64, isUTC: Bool) {
    self.offset = offset
    self.isUTC = isUTC
  }

  /// Creates a format for a time zone of one offset in seconds; for tests.
  package init(offset: Int64) { self.init(offset: { _ in offset }, isUTC: false) }

  /// Returns a time with all its digits: `2024-01-31T18:05:09.250Z`, `…+01:00`.
  package func text(_ time: Timestamp) -> String {
    guard !isUTC, let (shifted, offset) = shifted(time) else { return time.description }
    let minutes = offset.magnitude / 60
    return shifted.description.dropLast() + (offset < 0 ? "-" : "+")
      + Self.twoDigits(minutes / 60) + ":" + Self.twoDigits(minutes % 60)
  }

  /// Returns a time to the minute, for narrow tables: `2024-01-31 18:05`.
  package func shortText(_ time: Timestamp) -> String {
    let digits = (shifted(time)?.time ?? time).description
    guard let end = digits.lastIndex(of: ":"), let blank = digits.firstIndex(of: "T") else {
      return digits
    }
    return digits[..<blank] + " " + digits[digits.index(after: blank)..<end]
  }

  /// Returns a time that reads in UTC as the given one does in this zone.
  func asRead(_ time: Timestamp) -> Timestamp { shifted(time)?.time ?? time }

  /// Parses a date; one without a time zone is in this format's.
  ///
  /// In the hour that a change of clocks repeats, it is the first of the two; in the one that is
  /// left out, the next.
  package func parse(_ text: String) -> Timestamp? {
    guard let (time, hasZone) = UTCDate.parts(text) else { return nil }
    guard !isUTC, !hasZone else { return time }
    let seconds = time.microseconds / Self.secondMicroseconds
    // The offset of a day before stands for the one in force before a change of clocks.
    let early = seconds - offset(seconds - 86_400)
    let offset = offset(early) == offset(seconds - 86_400) ? seconds - early : offset(early)
    let (shifted, isOverflow) = time.microseconds.subtractingReportingOverflow(
      offset * Self.secondMicroseconds)
    return isOverflow ? nil : Timestamp(microseconds: shifted)
  }

  /// Returns a time that reads in UTC as the given one does in this zone, and the offset; nil at
  /// the ends of the calendar.
  private func shifted(_ time: Timestamp) -> (time: Timestamp, offset: Int64)? {
    let offset = offset(time.microseconds / Self.secondMicroseconds)
    let (shifted, isOverflow) = time.microseconds.addingReportingOverflow(
      offset * Self.secondMicroseconds)
    return isOverflow ? nil : (Timestamp(microseconds: shifted), offset)
  }

  private static func twoDigits(_ number: UInt64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
