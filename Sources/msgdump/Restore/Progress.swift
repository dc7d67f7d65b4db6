/// Shows the progress of long work on a terminal.
///
/// Short work shows nothing.
struct Progress {
  private static let patience = Duration.seconds(1)
  private static let interval = Duration.milliseconds(200)

  private let isShown = System.standardErrorIsTerminal
  private var next = ContinuousClock.now + patience
  private var hasShown = false

  /// Shows the number of lines done, if enough time has passed.
  mutating func show(lineCount: Int) {
    guard isShown, ContinuousClock.now >= next else { return }
    next = ContinuousClock.now + Self.interval
    hasShown = true
    System.writeToStandardError("\r\(lineCount) lines")
  }

  /// Removes the progress line.
  mutating func end() {
    if hasShown { System.writeToStandardError("\r\u{1b}[K") }
    hasShown = false
  }
}
