import MsgStore
import PageFile

/// Shows the progress of long work on a terminal: its part done, the time it takes, and the time
/// left.
///
/// Work of less than a second shows nothing, nor does standard error that is no terminal.
package final class Progress: Sendable {
  private static let patience = Duration.seconds(1)
  private static let interval = Duration.milliseconds(200)

  private struct State {
    var phase: String
    var begin = ContinuousClock.now
    /// The part done, 0 to 1; nil if the work cannot tell.
    var part: Double?
    var hasShown = false
    var hasEnded = false
  }

  private let start = ContinuousClock.now
  private let state: Locked<State>

  private init(_ phase: String) { state = Locked(State(phase: phase)) }

  /// Shows the progress of `body` while it runs.
  ///
  /// - Parameter phase: A word for the work at its beginning, such as `reading`.
  static func showing<Result>(
    _ phase: String, _ body: (Progress) throws -> Result
  ) rethrows -> Result {
    let progress = Progress(phase)
    guard System.standardErrorIsTerminal else { return try body(progress) }
    // The work may say nothing for long, and the time goes on.
    let display = Task.detached {
      try await Task.sleep(for: patience)
      while !Task.isCancelled {
        progress.show()
        try await Task.sleep(for: interval)
      }
    }
    defer {
      display.cancel()
      progress.end()
    }
    return try body(progress)
  }

  /// Goes on to another phase of the work, whose part done is counted from the beginning.
  func begin(_ phase: String) {
    state.withLock {
      guard $0.phase != phase else { return }
      $0.phase = phase
      $0.begin = .now
      $0.part = nil
    }
  }

  /// Tells how much of the phase is done.
  func tell(_ done: Int, of total: Int) {
    guard total > 0 else { return }
    state.withLock { $0.part = min(1, max(0, Double(done) / Double(total))) }
  }

  /// Tells the progress of a compaction.
  func tell(_ compaction: CompactionProgress) {
    switch compaction.stage {
    case .reading: begin("reading")
    case .packing: begin("packing")
    case .moving, .done: begin("moving pages")
    }
    if let part = compaction.partDone { state.withLock { $0.part = part } }
  }

  private func show() {
    state.withLock {
      guard !$0.hasEnded else { return }
      $0.hasShown = true
      let line = Self.line($0.phase, part: $0.part, of: .now - $0.begin, in: .now - start)
      System.writeToStandardError("\r\(line)\u{1b}[K")
    }
  }

  private func end() {
    state.withLock {
      if $0.hasShown { System.writeToStandardError("\r\u{1b}[K") }
      $0.hasEnded = true
    }
  }

  /// Returns the line for a phase: `packing: 43 %, 12 s, 16 s left`.
  package static func line(
    _ phase: String, part: Double?, of phaseTime: Duration, in time: Duration
  ) -> String {
    let elapsed = text(time)
    guard let part else { return "\(phase): \(elapsed)" }
    let percent = "\(Int((part * 100).rounded(.down))) %"
    // An estimate from the first moments is worth nothing.
    guard part > 0.01, phaseTime >= patience else { return "\(phase): \(percent), \(elapsed)" }
    return "\(phase): \(percent), \(elapsed), \(text(phaseTime * ((1 - part) / part))) left"
  }

  private static func text(_ time: Duration) -> String {
    let seconds = time.components.seconds
    return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
  }
}
