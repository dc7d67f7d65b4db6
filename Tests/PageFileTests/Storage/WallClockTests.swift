import Foundation
import Testing

/// Nothing in the storage layer depends on what time it is: the device's clock is asked in one place, for
/// the layers above, and order comes from counters.
struct WallClockTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/PageFile")

  /// Every way to ask what time it is, or to wait until some time of day.
  private static let words = [
    "CLOCK_REALTIME", "gettimeofday", "time(nil", "time(&", "Date()", "Date.now", "WallClock",
    "mach_absolute_time", "ContinuousClock", "SuspendingClock", "CLOCK_TAI", "ftime",
  ]

  @Test func onlyOneFileAsksTheClock() throws {
    let files = try #require(
      FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
    var names: Set<String> = []
    var fileCount = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      fileCount += 1
      let text = try String(contentsOf: file, encoding: .utf8)
      for line in text.split(separator: "\n")
      where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        if Self.words.contains(where: { line.contains($0) }) {
          names.insert(file.lastPathComponent)
        }
      }
    }
    #expect(fileCount > 60)
    #expect(names == ["WallClock.swift"])
  }
}
