import Damage
import PageFile
import Testing

/// Flipped bits in every structure of small stores, in every state a store is found in: each is reported
/// with its place, or cannot matter.
struct FlipTests {
  private let phase = Int(SeededGenerator.freshSeed())

  private func run(_ specimens: [Specimen], maximumCount: Int) -> Flips.Report {
    var report = Flips.Report()
    for specimen in specimens {
      report.add(Flips(specimen).run(maximumCount: maximumCount, phase: phase))
    }
    for harm in report.harms.prefix(5) { Issue.record("phase \(phase): \(harm)") }
    #expect(report.harms.isEmpty)
    return report
  }

  private func expectAllNoticed(
    _ structures: [Anatomy.Structure], in report: Flips.Report,
    _ location: SourceLocation = #_sourceLocation
  ) {
    for structure in structures {
      let tally = report[structure]
      #expect(tally.flipCount > 0, "\(structure)", sourceLocation: location)
      #expect(
        tally[.harmless] == 0 && tally[.unwitnessed] == 0, "\(structure): \(tally)",
        sourceLocation: location)
    }
  }

  @Test func flipsInAClosedStoreAreReportedOrDoNotMatter() throws {
    let report = run([try Specimen.closed()], maximumCount: 5)
    expectAllNoticed([.metaSlot, .tablePage, .branch, .leaf, .overflow], in: report)
    #expect(report[.unused][.harmless] == report[.unused].flipCount)
  }

  /// Every commit is proven by the next one's header, and the last by the watermark.
  @Test func flipsInALogInUseNeverShortenItInSilence() throws {
    let report = run([try Specimen.inUse()], maximumCount: 5)
    expectAllNoticed(
      [.commitHeader, .frames, .metaSlot, .tablePage, .branch, .leaf, .overflow], in: report)
    #expect(report[.watermark][.harmless] == report[.watermark].flipCount)
  }

  /// What no sync had covered, or what a power cut left without its watermark, may go; all before it
  /// stays or is reported.
  @Test func flipsTakeUnwitnessedCommitsAtMost() throws {
    let report = run(
      [try Specimen.withUnsyncedTail(), try Specimen.withoutWatermark()], maximumCount: 4)
    #expect(report[.frames][.unwitnessed] > 0)
    #expect(report[.frames][.harmless] == 0 && report[.commitHeader][.harmless] == 0)
    expectAllNoticed([.metaSlot, .leaf], in: report)
  }

  @Test func flipsInMidCheckpointAreReportedOrDoNotMatter() throws {
    let specimens = try Specimen.inMidCheckpoint()
    #expect(specimens.count > 7)
    let report = run(specimens, maximumCount: 2)
    expectAllNoticed([.tablePage, .branch, .leaf, .overflow], in: report)
    #expect(report[.frames][.unwitnessed] == 0 && report[.commitHeader][.unwitnessed] == 0)
  }

  /// A state that no header has may be read as that of an encrypted store's header.
  @Test func eachBitOfAWALHeadersVersionAndStateIsProven() throws {
    let specimen = try #require(try Specimen.inMidCheckpoint().first)
    for name in Specimen.fileNames.dropFirst() {
      let bytes = try #require(specimen.files[name])
      for bit in 8 * 8..<16 * 8 {
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        let files = specimen.files.copy()
        files[name] = changed
        let verdict = Judge(specimen).verdict(files)
        #expect(verdict.outcome == .refused, "bit \(bit) of \(name): \(verdict.sentence)")
      }
    }
  }
}
