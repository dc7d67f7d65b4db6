/// Shows on a terminal how far long work has come.
///
/// Short work is not worth a line.
struct Progress {
  private static let patience = Duration.seconds(1)
  private static let interval = Duration.milliseconds(200)

  private let isShown = System.standardErrorIsTerminal
  private var next = ContinuousClock.now + patience
  private var hasShown = false

  /// Says how many lines are done, if it is time to say something.
  mutating func show(lineCount: Int) {
    guard isShown, ContinuousClock.now >= next else { return }
    next = ContinuousClock.now + Self.interval
    hasShown = true
    System.writeToStandardError("\r\(lineCount) lines")
  }

  /// Takes the line away again.
  mutating func end() {
    if hasShown { System.writeToStandardError("\r\u{1b}[K") }
    hasShown = false
  }
}
