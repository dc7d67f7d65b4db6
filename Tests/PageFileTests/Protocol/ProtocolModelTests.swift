import ProtocolModel
import Testing

/// The protocol of commits, checkpoints, openings and crashes as a model, of which everything within a
/// bound is tried.
///
/// It is the model and not the engine: see docs/testing.md, "The model of the protocol".
struct ProtocolModelTests {
  /// Each has another side of the protocol; larger ones, with all sides at once, are for `torture`.
  static let bounds = [
    Bound(commits: 2, turns: 2, crashes: 0, readers: 2),
    Bound(commits: 2, turns: 2, crashes: 1),
    Bound(commits: 1, turns: 0, crashes: 2, closes: 1),
    Bound(commits: 1, turns: 1, crashes: 2),
    Bound(commits: 1, turns: 0, crashes: 2, hasLog: false, failedSyncs: 1),
    Bound(commits: 1, turns: 0, crashes: 2, tearsSectors: true),
    Bound(commits: 1, turns: 1, crashes: 1, closes: 1, moves: 1, erases: true),
    Bound(commits: 1, turns: 1, crashes: 1, refusals: 1),
    Bound(commits: 2, turns: 1, crashes: 1, growths: 1),
    Bound(commits: 2, turns: 0, crashes: 2, failedSyncs: 1, growths: 1),
    Bound(
      commits: 1, turns: 1, crashes: 2, closes: 1, tearsSectors: true, erases: true,
      rewritesMetaAfterClose: true),
  ]

  /// Debug builds are fifty times slower, so they leave out those that need many states.
  static let defects = ProtocolDefect.harmful.filter { defect in
    #if DEBUG
      defect.bound.crashes < 3
    #else
      true
    #endif
  }

  @Test(arguments: bounds)
  func nothingGoesWrongWithinTheBound(bound: Bound) {
    let report = runModel(bound: bound)
    #expect(report.violation == nil, "\(report)")
    #expect(report.stateCount > 1000)
  }

  @Test(arguments: defects)
  func everyDefectIsCaught(defect: ProtocolDefect) {
    let report = runModel(bound: defect.bound, defect: defect)
    #expect(report.violation != nil, "\(report)")
    // Breadth first: nothing goes wrong in fewer steps.
    #expect(report.trace.count == report.depth + 1)
  }

  @Test(arguments: ProtocolDefect.harmless)
  func whatCrashesDoNotNeedIsKnown(defect: ProtocolDefect) {
    #expect(runModel(bound: defect.bound, defect: defect).violation == nil)
  }

  /// A medium that leaves sectors unreadable is worse than what is assumed of it.
  ///
  /// Then a close that was killed, and the first write after it, may lose both meta slots, unless that
  /// write begins as an opening after a crash does.
  @Test func tornSectorsAfterAKilledCloseNeedTheMetaRewritten() {
    var bound = Bound(commits: 1, turns: 0, crashes: 2, closes: 1, tearsSectors: true)
    #expect(runModel(bound: bound).violation == .refused("corruptMeta"))
    bound.rewritesMetaAfterClose = true
    #expect(runModel(bound: bound).violation == nil)
  }

  @Test func aTraceSaysWhatHappened() {
    let report = runModel(
      bound: ProtocolDefect.watermarkBeforeSync.bound, defect: .watermarkBeforeSync)
    #expect(
      report.trace.suffix(3) == [
        "writer: append commit 1 to wal1, LSN 1",
        "group sync: begin, covering LSN 1",
        "power cut; the medium does not have: place 0 of wal1; open again",
      ])
  }
}
