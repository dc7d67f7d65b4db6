import ArgumentParser
import MsgStore

/// The options of commands that look at the messages of a period.
struct PeriodOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The earliest time, such as 2024-01-31 or 2024-01-31T18:05.", valueName: "date"))
  var since: String?

  @Option(help: ArgumentHelp("The time before which the messages end.", valueName: "date"))
  var until: String?

  func validate() throws {
    for (name, date) in [("--since", since), ("--until", until)] {
      guard date.map({ UTCDate.parse($0) != nil }) ?? true else {
        throw ValidationError("\(name) takes a date such as 2024-01-31 or 2024-01-31T18:05")
      }
    }
  }

  /// Returns the earliest time and the end, which is not part of the period; nil for no limit.
  func limits(_ times: TimeFormat) -> (since: Timestamp?, until: Timestamp?) {
    (since.flatMap(times.parse), until.flatMap(times.parse))
  }
}
