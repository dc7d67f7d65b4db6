package import PageFile

/// Bits flipped one place after the other, over all structures of a store.
package struct Flips: Sendable {
  /// How many neighbouring bits go over at once.
  package static let widths = [1, 2, 8]

  private let specimen: Specimen
  private let anatomy: Anatomy

  package init(_ specimen: Specimen) {
    self.specimen = specimen
    anatomy = Anatomy(specimen.files)
  }

  /// What came of the flips in one kind of structure.
  package struct Tally: Sendable {
    package var counts: [Judge.Outcome: Int] = [:]
    package var flipCount: Int { counts.values.reduce(0, +) }

    package subscript(outcome: Judge.Outcome) -> Int { counts[outcome] ?? 0 }
  }

  package struct Report: Sendable {
    package var tallies: [Anatomy.Structure: Tally] = [:]
    /// The flips that did harm, and which.
    package var harms: [String] = []
    package var longest = Duration.zero
    package var flipCount: Int { tallies.values.reduce(0) { $0 + $1.flipCount } }

    package init() {}

    package subscript(structure: Anatomy.Structure) -> Tally { tallies[structure] ?? Tally() }

    package mutating func add(_ other: Report) {
      for (structure, tally) in other.tallies {
        tallies[structure, default: Tally()].counts.merge(tally.counts, uniquingKeysWith: +)
      }
      harms += other.harms
      longest = max(longest, other.longest)
    }
  }

  /// Places of the store: a part of it and a bit in that part.
  ///
  /// Of each kind of structure about `maximumCount`, evenly spread. Consecutive phases move on to the next
  /// bits, until each bit has had its turn.
  private func places(_ maximumCount: Int, phase: Int) -> [(part: Anatomy.Part, bit: Int)] {
    Anatomy.Structure.allCases.flatMap { structure in
      let parts = anatomy.parts.filter { $0.structure == structure }
      let bitCount = parts.reduce(0) { $0 + $1.range.count * 8 }
      let stride = max(1, (bitCount + maximumCount - 1) / maximumCount)
      var places: [(part: Anatomy.Part, bit: Int)] = []
      var wanted = phase % stride
      var start = 0
      for part in parts {
        let end = start + part.range.count * 8
        while wanted < end {
          places.append((part, part.range.lowerBound * 8 + wanted - start))
          wanted += stride
        }
        start = end
      }
      return places
    }
  }

  /// Neighbouring bits that went over, and the part of the store they are in.
  package struct Flip: Sendable, CustomStringConvertible {
    package let part: Anatomy.Part
    package let bit: Int
    package let width: Int

    package var description: String {
      "\(width) bits from bit \(bit % 8) of byte \(bit / 8) of \(part.file),"
        + " in a \(part.structure.rawValue)"
    }
  }

  /// Calls `body` with a copy of the files for each flip: about `maximumCount` places of each kind of structure, with
  /// every width.
  package func forEach(maximumCount: Int, phase: Int, _ body: (MemoryDirectory, Flip) -> Void) {
    for (part, place) in places(maximumCount, phase: phase) {
      for width in Self.widths {
        guard var bytes = specimen.files[part.file] else { continue }
        let files = specimen.files.copy()
        // A burst stays in its part, so that it is known what the error has to name.
        let first = min(place, part.range.upperBound * 8 - width)
        for bit in first..<first + width { bytes[bit / 8] ^= 1 << UInt8(bit % 8) }
        files[part.file] = bytes
        body(files, Flip(part: part, bit: first, width: width))
      }
    }
  }

  /// Flips bits and judges what comes of it.
  package func run(maximumCount: Int, phase: Int) -> Report {
    var report = Report()
    forEach(maximumCount: maximumCount, phase: phase) { files, flip in
      let judge = Judge(specimen) { Self.tells($0, of: flip.part) }
      let begin = ContinuousClock.now
      let verdict = judge.verdict(files)
      report.longest = max(report.longest, ContinuousClock.now - begin)
      report.tallies[flip.part.structure, default: Tally()].counts[verdict.outcome, default: 0] += 1
      if verdict.outcome == .harm {
        report.harms.append("\(specimen.name): \(flip): \(verdict.sentence)")
      }
    }
    return report
  }

  /// Whether an error names the place of the damage.
  private static func tells(_ error: PageFileError, of part: Anatomy.Part) -> Bool {
    switch error {
    case .corruptPage(let number, let reason):
      guard let slot = part.slot else { return false }
      return number == part.page || reason.hasPrefix("slot \(slot)")
    case .corruptWAL, .walMismatch: return part.slot == nil
    case .corruptMeta: return part.structure == .metaSlot
    default: return false
    }
  }
}
