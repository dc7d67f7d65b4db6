import Damage
import PageFile
import Simulation
import Testing

/// Right bytes in a wrong place, and old bytes in the right one: a device that mixes up or loses writes is
/// found out by whoever reads them.
struct MisplacedPageTests {
  private let pageByteCount = SpecimenMaker.options.pageByteCount

  private func specimens() throws -> [Specimen] {
    let steps = try Specimen.inMidCheckpoint()
    return [try Specimen.closed(), try Specimen.inUse(), steps[steps.count / 2]]
  }

  /// The verdict on a specimen whose file `name` has other bytes.
  private func verdict(_ specimen: Specimen, _ name: String, _ bytes: [UInt8]) -> Judge.Verdict {
    let files = specimen.files.copy()
    files[name] = bytes
    return Judge(specimen.proven(by: files)).verdict(files)
  }

  private func isLive(_ part: Anatomy.Part) -> Bool {
    switch part.structure {
    case .tablePage, .branch, .leaf, .overflow: true
    default: false
    }
  }

  /// The slots of the data file, each with its part, where it is known what is in it.
  private func slots(_ specimen: Specimen, _ bytes: [UInt8]) -> [(offset: Int, part: Anatomy.Part?)]
  {
    let parts = Anatomy(specimen.files).parts.filter { $0.slot != nil }
    return stride(
      from: 2 * MetaSlot.regionByteCount, through: bytes.count - pageByteCount, by: pageByteCount
    ).map { offset in (offset, parts.first { $0.range.lowerBound == offset }) }
  }

  @Test func anyTwoPagesInEachOthersPlacesAreReported() throws {
    for specimen in try specimens() {
      let bytes = try #require(specimen.files[Specimen.storeName])
      let slots = slots(specimen, bytes)
      var random = SeededGenerator()
      let share = Scale.count(debug: 40, release: 10)
      for (index, one) in slots.enumerated() {
        for other in slots[(index + 1)...] where random.below(share) == 0 {
          var swapped = bytes
          for byte in 0..<pageByteCount { swapped.swapAt(one.offset + byte, other.offset + byte) }
          guard !swapped.hasSameBytes(as: bytes) else { continue }
          let verdict = verdict(specimen, Specimen.storeName, swapped)
          let isNoticed = verdict.outcome == .refused || verdict.outcome == .reported
          let matters = [one.part, other.part].contains { $0.map(isLive) ?? false }
          let comment: Comment = "\(specimen.name): \(one.offset), \(other.offset): \(verdict)"
          #expect(verdict.outcome != .harm, comment)
          #expect(isNoticed || !matters, comment)
        }
      }
    }
  }

  /// A check names both of two swapped pages.
  @Test func bothPlacesOfASwapAreNamed() throws {
    let specimen = try Specimen.closed()
    let bytes = try #require(specimen.files[Specimen.storeName])
    let leaves = slots(specimen, bytes).filter { $0.part?.structure == .leaf }
    #expect(leaves.count > 2)
    for (one, other) in zip(leaves, leaves.dropFirst()) {
      var swapped = bytes
      for byte in 0..<pageByteCount { swapped.swapAt(one.offset + byte, other.offset + byte) }
      let files = specimen.files.copy()
      files[Specimen.storeName] = swapped
      let database = try Database(in: files, name: Specimen.storeName)
      let named = try database.findings().compactMap(\.page)
      #expect([one, other].allSatisfy { slot in named.contains { $0 == slot.part?.page } })
    }
  }

  /// Each slot, and each meta slot, with everything it ever held: writes that were acknowledged and never
  /// happened.
  @Test func anyOlderVersionInAPlaceIsReported() throws {
    let history = Locked<[Int: [[UInt8]]]>([:])
    let pageByteCount = pageByteCount
    @Sendable func remember(_ files: MemoryDirectory) {
      guard let bytes = files[Specimen.storeName] else { return }
      let metas = (0..<2).map { MetaSlot.offset(of: $0) }
      let slots = stride(
        from: 2 * MetaSlot.regionByteCount, through: bytes.count - pageByteCount,
        by: pageByteCount)
      history.withLock { history in
        for offset in metas + Array(slots) where offset + pageByteCount <= bytes.count {
          let version = Array(bytes[offset..<offset + pageByteCount])
          if history[offset]?.last != version { history[offset, default: []].append(version) }
        }
      }
    }
    let directory = HookedDirectory { (call, files) throws(PageFileError) in
      if call.kind == .write { remember(files) }
    }
    let maker = try SpecimenMaker(in: directory)
    for _ in 0..<6 {
      try maker.commits(2)
      try maker.database.checkpoint()
    }
    let specimen = Specimen("after six checkpoints", directory.files.copy(), maker.states)
    let bytes = try #require(specimen.files[Specimen.storeName])
    let live = Set(
      Anatomy(specimen.files).parts.filter(isLive).map(\.range.lowerBound))
    var liveCount = 0
    var random = SeededGenerator()
    for (offset, versions) in history.withLock({ $0 }) where offset + pageByteCount <= bytes.count {
      let range = offset..<offset + pageByteCount
      for version in versions where version != Array(bytes[range]) {
        // What strikes a place that nothing uses is tried now and then.
        guard live.contains(offset) || random.below(5) == 0 else { continue }
        var stale = bytes
        stale.replaceSubrange(range, with: version)
        let verdict = verdict(specimen, Specimen.storeName, stale)
        #expect(verdict.outcome != .harm, "offset \(offset): \(verdict)")
        guard live.contains(offset) else { continue }
        liveCount += 1
        let isNoticed = verdict.outcome == .refused || verdict.outcome == .reported
        #expect(isNoticed, "offset \(offset): \(verdict)")
      }
    }
    #expect(liveCount > 20)
  }

  /// Commits written over pages, pages and meta slots over the log.
  @Test func writesThatEndUpInTheOtherFileAreReported() throws {
    var random = SeededGenerator()
    for specimen in try specimens() {
      let data = try #require(specimen.files[Specimen.storeName])
      let slots = slots(specimen, data)
      for name in Specimen.fileNames.dropFirst() {
        let log = try #require(specimen.files[name])
        let commits = Anatomy.commits(in: log)
        for (header, offset) in commits {
          let commit = log[offset..<offset + header.paddedByteCount]
          for slot in slots where random.below(8) == 0 {
            let range = slot.offset..<min(slot.offset + commit.count, data.count)
            var struck = data
            struck.replaceSubrange(range, with: commit.prefix(range.count))
            let verdict = verdict(specimen, Specimen.storeName, struck)
            let isNoticed = verdict.outcome == .refused || verdict.outcome == .reported
            let comment: Comment = "\(specimen.name): commit over \(slot.offset): \(verdict)"
            #expect(verdict.outcome != .harm, comment)
            #expect(isNoticed || !(slot.part.map(isLive) ?? false), comment)
          }
        }
        let page = data[slots[0].offset..<slots[0].offset + pageByteCount]
        let meta = data[..<MetaSlot.byteCount]
        for offset in [0] + commits.map(\.offset) {
          for strike in [page, meta] {
            var struck = log
            struck.replaceSubrange(offset..<offset + strike.count, with: strike)
            let verdict = verdict(specimen, name, struck)
            #expect(verdict.outcome != .harm, "\(specimen.name): \(name) \(offset): \(verdict)")
          }
        }
      }
    }
  }
}
