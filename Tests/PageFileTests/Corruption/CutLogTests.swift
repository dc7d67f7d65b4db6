import Damage
import PageFile
import Testing

/// WAL files cut short, overwritten with zeros from some place on, or gone: refused when they are needed, and
/// then left as they are.
struct CutLogTests {
  private func expectNoHarm(
    _ specimen: Specimen, _ what: String, _ change: (MemoryDirectory) -> Void
  ) -> Judge.Outcome {
    let files = specimen.files.copy()
    change(files)
    let verdict = Judge(specimen) { error in
      if case .corruptWAL = error { return true }
      if case .walMismatch = error { return true }
      return false
    }.verdict(files)
    #expect(verdict.outcome != .harm, "\(specimen.name), \(what): \(verdict.sentence)")
    return verdict.outcome
  }

  /// A log in use is never shorter than its least size, so a cut one is known by its length alone.
  @Test func aLogThatIsCutIsRefusedWhereverTheCutIs() throws {
    let phase = SeededGenerator.freshSeed()
    for specimen in try Specimen.all() {
      for name in Specimen.fileNames.dropFirst() {
        let bytes = try #require(specimen.files[name])
        let end = Anatomy.commits(in: bytes).last.map { $0.offset + $0.header.paddedByteCount } ?? 0
        let cuts = stride(from: Int(phase % 97), to: end + 1024, by: 997)
        for cut in [0, 1, 511, 512, 4095, 4096, end, bytes.count - 1] + Array(cuts) {
          _ = expectNoHarm(specimen, "\(name) cut to \(cut)") { files in
            files[name] = Array(bytes.prefix(cut))
          }
        }
      }
    }
  }

  /// What the zeros leave proves which commits must not be missing.
  ///
  /// The commits that are wiped out together with everything behind them have no witness left.
  @Test func aLogOfZerosFromAnySectorOnLosesNothingThatIsProven() throws {
    for whole in [try Specimen.closed(), try Specimen.inUse()] + (try Specimen.inMidCheckpoint()) {
      for name in Specimen.fileNames.dropFirst() {
        let bytes = try #require(whole.files[name])
        let end = Anatomy.commits(in: bytes).last.map { $0.offset + $0.header.paddedByteCount } ?? 0
        for start in stride(from: 0, through: end + 512, by: 512) {
          let zeros = bytes.prefix(start) + [UInt8](repeating: 0, count: bytes.count - start)
          let files = whole.files.copy()
          files[name] = Array(zeros)
          let specimen = whole.proven(by: files)
          _ = expectNoHarm(specimen, "\(name) zero from \(start)") { $0[name] = Array(zeros) }
        }
      }
    }
  }

  /// One sector of zeros in the middle leaves the witnesses behind it.
  @Test func aHoleOfZerosInALogInUseIsRefused() throws {
    let specimen = try Specimen.inUse()
    let commits = Specimen.fileNames.dropFirst().flatMap { name in
      Anatomy.commits(in: specimen.files[name] ?? []).map { (name, $0.header, $0.offset) }
    }
    let checkpointLSN = 6
    for (name, header, offset) in commits where header.lsn.rawValue > checkpointLSN {
      let outcome = expectNoHarm(specimen, "\(name) \(offset)") { files in
        files[name]?.replaceSubrange(offset..<offset + 512, with: repeatElement(0, count: 512))
      }
      #expect(outcome == .refused)
    }
  }

  @Test(arguments: [["store-wal0"], ["store-wal1"], ["store-wal0", "store-wal1"]])
  func missingLogsAreRefusedUnlessTheStoreWasClosed(names: [String]) throws {
    for specimen in try Specimen.all() {
      let outcome = expectNoHarm(specimen, "without \(names)") { files in
        for name in names { files[name] = nil }
      }
      #expect(outcome == (specimen.name == "closed" ? .harmless : .refused), "\(specimen.name)")
    }
  }

  /// Files that are longer than they were, by whatever the file system has put there, are as good as before;
  /// and so is a data file that lacks slots nobody uses.
  @Test func otherLengthsWithoutDataAreNoDamage() throws {
    var random = SeededGenerator()
    for specimen in try Specimen.all() {
      for name in Specimen.fileNames {
        let bytes = try #require(specimen.files[name])
        for count in [1, 512, 10_000] {
          let stale = Array(bytes.suffix(count))
          for tail in [[UInt8](repeating: 0, count: count), random.bytes(count), stale] {
            let outcome = expectNoHarm(specimen, "\(name) longer by \(count)") {
              $0[name] = bytes + tail
            }
            #expect(outcome == .harmless, "\(specimen.name), \(name) longer by \(count)")
          }
        }
      }
      let end = try #require(
        Anatomy(specimen.files).parts.last { $0.file == Specimen.storeName && $0.slot != nil })
      let outcome = expectNoHarm(specimen, "shorter data file") { files in
        files[Specimen.storeName]?.removeSubrange(end.range.upperBound...)
      }
      #expect(outcome == .harmless, "\(specimen.name)")
    }
  }

  /// Cut at any sector: keys whose pages are left can be read one by one, and nothing is missing in
  /// silence.
  @Test func aDataFileThatIsCutIsRefusedOrReported() throws {
    for specimen in [try Specimen.closed(), try Specimen.inUse()] {
      let bytes = try #require(specimen.files[Specimen.storeName])
      let end = try #require(
        Anatomy(specimen.files).parts.last { $0.file == Specimen.storeName && $0.slot != nil })
      for cut in stride(from: 0, to: end.range.upperBound, by: 512) {
        let files = specimen.files.copy()
        files[Specimen.storeName] = Array(bytes.prefix(cut))
        let verdict = Judge(specimen) { error in
          if case .mainFileMissing = error { return cut == 0 }
          return Judge.tellsOfDamage(error)
        }.verdict(files)
        #expect(
          verdict.outcome == .refused || verdict.outcome == .reported,
          "\(specimen.name) cut to \(cut): \(verdict)")
      }
    }
  }
}
