import MsgStore
import MsgStoreTools

/// Outbox entries in readable form.
enum OutboxText {
  /// Returns the number of entries in each state, and the fate of new ones.
  static func line(_ counts: OutboxCounts, holdsNewEntries: Bool) -> String {
    "\(counts.total)" + states(counts, holdsNewEntries: holdsNewEntries)
  }

  /// Returns the words that follow the number of entries: their states, and the fate of new ones.
  static func states(_ counts: OutboxCounts, holdsNewEntries: Bool) -> String {
    let noun = counts.total == 1 ? "entry" : "entries"
    return " \(noun): \(counts.queued) queued, \(counts.held) held, \(counts.running) running, "
      + "\(counts.waiting) waiting, \(counts.failed) failed; "
      + "new ones are \(holdsNewEntries ? "held" : "sent")"
  }

  /// Returns when the entry is handed out, as far as known.
  static func due(_ reported: ReportedEntry) -> Field {
    let entry = reported.entry
    switch entry.state {
    case .held, .failed: return .none
    case .running(_, let time), .waiting(let time), .scheduled(let time): return .time(time)
    case .queued: return entry.isBlocked ? .none : .text(reported.isNext ? "now" : "in its turn")
    }
  }

  /// Returns the entry's owner, what it waits for, and why its last attempt failed.
  static func notes(_ entry: OutboxEntry) -> [String] {
    var notes: [String] = []
    if case .running(let owner, _) = entry.state { notes.append("is with \(owner.visible)") }
    if case .scheduled = entry.state { notes.append("scheduled") }
    if entry.isBlocked {
      notes.append(
        entry.kind == .upload
          ? "blocked: the file is beyond a limit until it is prepared"
          : "blocked: what it needs is held or has failed")
    }
    if let failure = entry.failure { notes.append("failed: \(MessageText.text(failure))") }
    return notes
  }

  /// Returns the time elapsed, in the largest unit of which it has at least two.
  static func age(from time: Timestamp, to now: Timestamp) -> String {
    let (age, isOverflow) = now.microseconds.subtractingReportingOverflow(time.microseconds)
    guard !isOverflow, age >= 0 else { return "-" }
    let seconds = age / 1_000_000
    let units: [(name: String, length: Int64)] = [("d", 86_400), ("h", 3600), ("min", 60)]
    for unit in units where seconds >= 2 * unit.length {
      return "\(seconds / unit.length) \(unit.name)"
    }
    return "\(seconds) s"
  }
}
