import Simulation

/// Where plots come from: half of them are of anything, the others have what a kind of mistake needs.
extension Plot {
  static func random(seed: UInt64) -> Plot {
    var random = SeededRandom(seed: seed ^ 0x9107)
    var plot: Plot
    switch random.below(16) {
    case 0: plot = manyPages(&random)
    case 1, 7: plot = growingLog(&random)
    case 2: plot = compactedWhileClosed(&random)
    case 3: plot = longTransaction(&random)
    case 4: plot = letGo(&random)
    case 5: plot = handedOver(&random)
    case 6: plot = besideTheOwner(&random)
    default: plot = anything(&random)
    }
    plot.splitsWrites = random.once(in: 4)
    if random.once(in: 4) { plot.cutCall = 1 + random.below(60) }
    return plot
  }

  // MARK: Anything

  private static func anything(_ random: inout SeededRandom) -> Plot {
    let beginnings: [Beginning] = [.empty, .small, .small, .small, .unclosed, .unclosed]
    var plot = Plot(beginnings[random.below(beginnings.count)], [])
    for _ in 0..<2 + random.below(3) {
      plot.parts.append((0..<1 + random.below(4)).map { _ in anyAct(&random) })
    }
    // Few ends, or nothing else would happen.
    switch random.below(8) {
    case 0: plot.parts.append([Act(.close)])
    case 1: plot.parts.append([Act(.suspend), Act(.resume)])
    case 2: plot.parts.append([Act(.suspendAsItIs), Act(.resume)])
    case 3: plot.parts[0].append(Act(.putAndLetGo, random.below(20)))
    default: break
    }
    return plot
  }

  private static func anyAct(_ random: inout SeededRandom) -> Act {
    let first = random.below(24)
    switch random.below(20) {
    case 0...4: return Act(.put, first, 1 + random.below(3), anyLength(&random))
    case 5...7: return Act(.putRelaxed, first, 1 + random.below(3), anyLength(&random))
    case 8: return Act(.remove, first, 1 + random.below(8))
    case 9: return Act(.erase, first, 1 + random.below(3))
    case 10: return Act(.rollback, first, 1 + random.below(4), anyLength(&random))
    case 11...12: return Act(.get, first, 1 + random.below(6))
    case 13: return Act(.walk)
    case 14: return Act(.hold, first)
    case 15: return Act(.reread, first, 1 + random.below(6))
    case 16...17: return Act(.checkpoint)
    case 18: return Act(random.once(in: 2) ? .compact : .check)
    default: return Act(.drop)
    }
  }

  private static func anyLength(_ random: inout SeededRandom) -> Int {
    random.once(in: 6) ? 3000 + random.below(3000) : 10 + random.below(800)
  }

  // MARK: With what a mistake needs

  /// More pages than memory has room for, so that images come and go.
  private static func manyPages(_ random: inout SeededRandom) -> Plot {
    let reads = (0..<2).map { _ in
      (0..<2).map { _ in Act(.get, [0, 560][random.below(2)] + random.below(20), 30) }
    }
    return Plot(.wide, reads + [[Act(.walk)], [Act(.put, random.below(600)), Act(.checkpoint)]])
  }

  /// Commits that make the log grow, beside what makes it shrink.
  private static func growingLog(_ random: inout SeededRandom) -> Plot {
    // A long value needs more than a file has that has just been cut, and few steps; a short one before
    // it leaves so little in the log that the long one need not wait for a checkpoint to end.
    let writes = (0..<4 + random.below(4)).map { index in
      Act(.putRelaxed, 3, 1, index % 2 == 0 ? 40 : 250_000 + random.below(90_000))
    }
    var plot = Plot(.small, [writes, (0...1 + random.below(3)).map { _ in Act(.checkpoint) }])
    plot.favouredFile = "WALWriter.swift"
    return plot
  }

  /// A compaction that reads while its moment is taken away from it.
  private static func compactedWhileClosed(_ random: inout SeededRandom) -> Plot {
    let ends: [[Act]] = [
      [Act(.close)], [Act(.suspend)], [Act(.checkpoint), Act(.close)],
      [Act(.suspend), Act(.resume)],
    ]
    let first = [10, 590][random.below(2)]
    if random.once(in: 2) {
      // Nobody has looked at the table before, and what its first page names is in the cache: so the
      // compaction goes from one page of it to the next without a read in between that would tell it.
      let ends = [.close, .suspend, .suspendAsItIs].map { Act($0) }
      return Plot(.wide, [[Act(.compact)], [ends[random.below(3)]]])
    }
    return Plot(
      .wide,
      [
        [Act([.compact, .check, .walk][random.below(3)])],
        [Act(.putRelaxed, first, 2), Act(.putRelaxed, first + 2, 2)],
        ends[random.below(ends.count)],
      ])
  }

  /// A transaction that changes more than memory has room for, beside a reader and a checkpoint.
  private static func longTransaction(_ random: inout SeededRandom) -> Plot {
    let long = Act(random.once(in: 3) ? .put : .rollback, 30, 40 + random.below(30), 9000)
    if random.once(in: 2) {
      let reader = [Act(.hold), Act(.put, random.below(20)), Act(.checkpoint), Act(.reread, 0, 4)]
      return Plot(.small, [reader, [long]])
    }
    return Plot(
      .small,
      [
        [Act(.put, random.below(20)), long],
        [Act(.hold), Act(.reread, 0, 4), Act(.reread, 4, 4)],
        [Act(.checkpoint), Act(.checkpoint)],
      ])
  }

  /// A database that is let go of while somebody still writes.
  private static func letGo(_ random: inout SeededRandom) -> Plot {
    let end = Act(random.once(in: 2) ? .putAndLetGo : .rollbackAndLetGo, random.below(20))
    var plot = Plot(.small, [[Act(.put, 0, 36, 1500), end]])
    if random.once(in: 2) { plot.parts.append([Act(.hold), Act(.reread, 0, 4)]) }
    if random.once(in: 2) { plot.parts.append([Act(.put, 3)]) }
    return plot
  }

  /// Several who suspend, resume, and close, beside those who read and write.
  private static func handedOver(_ random: inout SeededRandom) -> Plot {
    let turns: [Act.Verb] = [.suspend, .suspendAsItIs, .resume, .resume, .close]
    var plot = Plot(.small, [])
    for _ in 0..<2 {
      plot.parts.append((0..<3).map { _ in Act(turns[random.below(turns.count)]) })
    }
    plot.parts.append((0..<3).map { _ in Act(.put, random.below(20)) })
    plot.parts.append([Act(.get, 0, 4), Act(.hold), Act(.reread, 0, 4)])
    return plot
  }

  /// Somebody who reads beside the owner, in threads of the same process.
  private static func besideTheOwner(_ random: inout SeededRandom) -> Plot {
    var plot = Plot(.small, [])
    plot.parts.append((0..<3).map { _ in Act(.put, random.below(20), 2, anyLength(&random)) })
    plot.parts.append([Act(.checkpoint), Act(random.once(in: 2) ? .checkpoint : .close)])
    plot.parts.append((0..<3).map { _ in Act(.getBeside, random.below(20), 4) })
    return plot
  }
}
