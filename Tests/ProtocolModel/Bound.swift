/// How much happens in a run of the model.
///
/// Everything within the bound is tried, in every order.
package struct Bound: Sendable, CustomStringConvertible {
  /// Commits that are tried in all, those included that a crash undoes; at most 4.
  package var commits: Int
  /// Turns of the WAL files that a running store makes; closing may add one.
  package var turns: Int
  /// Kills and power cuts, in any order and at any moment, in openings too.
  package var crashes: Int
  /// Clean closes, each followed by an opening.
  package var closes: Int
  /// Times that pages are moved to lower slots.
  package var moves: Int
  /// Readers at the same time, at most 2.
  package var readers: Int
  /// Whether the WAL files are there when the store is first opened, with an empty log, as a clean
  /// close leaves them; otherwise the store is new.
  package var hasLog: Bool
  /// Whether a meta slot or a WAL header that was being written when power failed may be unreadable.
  ///
  /// The medium is assumed to leave its old or its new bytes (docs/design.md, assumption 1).
  package var tearsSectors: Bool
  /// Syncs that fail; each counts as a crash, too.
  ///
  /// The process ends. What it wrote may or may not be on the medium, and the system takes it for
  /// written, whether its memory keeps it or not.
  package var failedSyncs: Int
  /// Calls that a locked device refuses in the middle of a checkpoint or a group sync: nothing is lost
  /// and nobody poisoned, and the checkpoint is begun anew.
  package var refusals: Int
  /// Whether each checkpoint overwrites the WAL file that it has made superfluous.
  package var erases: Bool
  /// Times that a WAL file grows beside commits, from one place to all that it may have; if none, files
  /// have all from the beginning.
  package var growths: Int
  /// Whether the first write after a clean close begins by writing the newest meta slot again, which
  /// the engine does only after a crash.
  package var rewritesMetaAfterClose: Bool

  package init(
    commits: Int, turns: Int, crashes: Int, closes: Int = 0, moves: Int = 0, readers: Int = 0,
    hasLog: Bool = true,
    tearsSectors: Bool = false, failedSyncs: Int = 0, refusals: Int = 0, erases: Bool = false,
    growths: Int = 0, rewritesMetaAfterClose: Bool = false
  ) {
    self.commits = commits
    self.turns = turns
    self.crashes = crashes
    self.closes = closes
    self.moves = moves
    self.readers = readers
    self.hasLog = hasLog
    self.tearsSectors = tearsSectors
    self.failedSyncs = failedSyncs
    self.refusals = refusals
    self.erases = erases
    self.growths = growths
    self.rewritesMetaAfterClose = rewritesMetaAfterClose
  }

  package var description: String {
    var text = "commits \(commits), turns \(turns), crashes \(crashes), closes \(closes), "
    text += "moves \(moves), readers \(readers), failed syncs \(failedSyncs), refusals \(refusals)"
    if !hasLog { text += ", new store" }
    if tearsSectors { text += ", torn sectors" }
    if erases { text += ", erasing" }
    if growths > 0 { text += ", growths \(growths)" }
    if rewritesMetaAfterClose { text += ", meta rewritten after closing" }
    return text
  }

  /// What together takes about two minutes of one core, and more than a gigabyte of memory.
  package static let full = [
    // New stores, with everything that checkpoints may do.
    Bound(
      commits: 2, turns: 2, crashes: 2, closes: 1, moves: 1, hasLog: false, failedSyncs: 1,
      refusals: 1, erases: true),
    // Crashes of what recovers from crashes, on a medium worse than any.
    Bound(commits: 3, turns: 2, crashes: 3, tearsSectors: true, failedSyncs: 1),
    // Logs that grow, and are erased, on that medium.
    Bound(
      commits: 2, turns: 1, crashes: 2, closes: 1, tearsSectors: true, failedSyncs: 1, erases: true,
      growths: 1, rewritesMetaAfterClose: true),
    // The whole protocol beside two readers.
    Bound(commits: 3, turns: 2, crashes: 2, closes: 1, readers: 2, failedSyncs: 1),
  ]
}
