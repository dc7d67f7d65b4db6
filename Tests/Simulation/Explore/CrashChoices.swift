/// Which crashes are tried at one moment.
///
/// A kill always, and of what a power cut can leave: nothing of what was pending, all of it, each
/// operation alone, all but it, all before it, and that with the operation itself torn. When little is
/// pending, every subset of its sectors instead; when much is, also a sample of subsets, torn at 512,
/// 4096 or 16384 bytes.
package struct CrashChoices: Sendable {
  /// Up to how many pending units every subset is tried.
  package var exhaustiveUnitCount: Int
  /// How many random subsets are tried beyond that.
  package var sampleCount: Int
  /// How many crashes are tried at most.
  package var maximumCount: Int

  package init(exhaustiveUnitCount: Int = 6, sampleCount: Int = 8, maximumCount: Int = 80) {
    self.exhaustiveUnitCount = exhaustiveUnitCount
    self.sampleCount = sampleCount
    self.maximumCount = maximumCount
  }

  /// The crashes to try with what a disk has pending.
  package func crashes(_ disk: SimulatedDisk, _ random: inout SeededRandom) -> [Crash] {
    var crashes: [Crash] = [.kill]
    let unitCount = disk.pendingUnitCount
    if unitCount == 0 { return crashes }
    if unitCount <= exhaustiveUnitCount {
      for subset in 0..<1 << unitCount { crashes.append(.powerCut(.subset(subset, unitCount))) }
      if disk.mayHoldGarbage {
        for _ in 0..<sampleCount {
          var cut = PowerCut.subset(random.below(1 << unitCount), unitCount)
          cut.hasGarbage = true
          crashes.append(.powerCut(cut))
        }
      }
    } else {
      appendRegular(disk.pending, unitCount, &crashes, &random)
      for _ in 0..<sampleCount { crashes.append(.powerCut(sample(disk, unitCount, &random))) }
    }
    while crashes.count > maximumCount { crashes.remove(at: 1 + random.below(crashes.count - 1)) }
    return crashes
  }

  /// One crash of all that could be tried.
  package func crash(_ disk: SimulatedDisk, _ random: inout SeededRandom) -> Crash {
    let unitCount = disk.pendingUnitCount
    if unitCount == 0 || random.once(in: 4) { return .kill }
    switch random.below(4) {
    case 0: return .powerCut(PowerCut())
    case 1:
      var regular: [Crash] = []
      appendRegular(disk.pending, unitCount, &regular, &random)
      return regular[random.below(regular.count)]
    default: return .powerCut(sample(disk, unitCount, &random))
    }
  }

  private func appendRegular(
    _ pending: [PendingOperation], _ unitCount: Int, _ crashes: inout [Crash],
    _ random: inout SeededRandom
  ) {
    let all = 0..<unitCount
    crashes.append(.powerCut(PowerCut()))
    crashes.append(.powerCut(PowerCut(kept: [all])))
    var start = 0
    for operation in pending {
      let units = start..<start + operation.unitCount
      start = units.upperBound
      let before = all.lowerBound..<units.lowerBound
      let after = units.upperBound..<all.upperBound
      let torn = before.lowerBound..<units.lowerBound + random.below(units.count + 1)
      for kept in [[units], [before, after], [before], [torn]] {
        crashes.append(.powerCut(PowerCut(kept: kept.filter { !$0.isEmpty })))
      }
    }
  }

  /// A random subset: parts of one tear size, each kept or lost, more or fewer of them.
  private func sample(
    _ disk: SimulatedDisk, _ unitCount: Int, _ random: inout SeededRandom
  ) -> PowerCut {
    let tear = [1, 8, 32][random.below(3)]
    let lossesIn16 = 1 + random.below(15)
    var kept = [Bool](repeating: false, count: unitCount)
    var start = 0
    while start < unitCount {
      let end = min(unitCount, start + tear)
      if random.below(16) >= lossesIn16 {
        for unit in start..<end { kept[unit] = true }
      }
      start = end
    }
    return PowerCut(
      kept: kept.runs(of: true, in: 0..<unitCount),
      hasGarbage: disk.mayHoldGarbage && random.once(in: 2))
  }
}

extension PowerCut {
  /// The units whose bit is set.
  static func subset(_ bits: Int, _ unitCount: Int) -> PowerCut {
    let kept = (0..<unitCount).map { bits >> $0 & 1 == 1 }
    return PowerCut(kept: kept.runs(of: true, in: 0..<unitCount))
  }
}

extension SimulatedDisk {
  /// Whether a write is pending behind the durable end of its file.
  var mayHoldGarbage: Bool {
    pending.contains { operation in
      guard let inode = operation.inode, case .write(let offset, let payload) = operation.change
      else { return false }
      return !payload.isZero && offset + payload.byteCount > durableByteCount(of: inode)
    }
  }
}
