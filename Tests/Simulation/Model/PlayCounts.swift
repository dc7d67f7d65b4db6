import PageFile

/// What players have done, to see that a run has tested what it is there for.
package struct PlayCounts: Sendable, Hashable, CustomStringConvertible {
  package var commitCount = 0
  package var checkpointCount = 0
  /// Openings that had something to write.
  package var recoveryCount = 0
  package var readCount = 0
  package var expiredReadCount = 0
  package var growthCount = 0
  package var turnCount = 0
  /// Commits after which a tree had more pages, or fewer, than before.
  package var splitCount = 0
  package var mergeCount = 0
  /// Commits after which there were overflow pages.
  package var overflowCount = 0
  package var compactionCount = 0
  /// Pages that compactions saved, and those that they moved.
  package var savedPageCount = 0
  package var movedPageCount = 0
  /// Deletions on a full disk.
  package var reserveCount = 0
  /// How many tree pages there were after the last commit.
  fileprivate var treePageCount = 0

  package init() {}

  mutating func add(_ disk: DiskCounts) {
    growthCount += disk.growthCount
    turnCount += disk.turnCount
  }

  package mutating func add(_ other: PlayCounts) {
    commitCount += other.commitCount
    checkpointCount += other.checkpointCount
    recoveryCount += other.recoveryCount
    readCount += other.readCount
    expiredReadCount += other.expiredReadCount
    growthCount += other.growthCount
    turnCount += other.turnCount
    splitCount += other.splitCount
    mergeCount += other.mergeCount
    overflowCount += other.overflowCount
    compactionCount += other.compactionCount
    savedPageCount += other.savedPageCount
    movedPageCount += other.movedPageCount
    reserveCount += other.reserveCount
  }

  private var all: [(name: String, count: Int)] {
    [
      ("commits", commitCount), ("checkpoints", checkpointCount),
      ("recoveries", recoveryCount), ("reads", readCount),
      ("growths", growthCount), ("turns", turnCount), ("splits", splitCount),
      ("merges", mergeCount), ("overflow chains", overflowCount), ("compactions", compactionCount),
    ]
  }

  /// What is zero though a run of some length should have met it.
  package var missing: [String] { all.filter { $0.count == 0 }.map(\.name) }

  package var description: String {
    let rare = [
      ("expired readers", expiredReadCount), ("deletions on a full disk", reserveCount),
      ("pages saved", savedPageCount), ("pages moved", movedPageCount),
    ]
    return (all + rare).map { "\($0.1) \($0.0)" }.joined(separator: ", ")
  }
}

extension Player {
  /// Notes what the last commit has done to the trees.
  func countPages(_ database: Database) throws(PageFileError) {
    let transaction = try database.beginRead()
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    var treePageCount = 0
    var overflowPageCount = 0
    for tree in Record.trees {
      try BTree(source, tree).check(
        visit: { number in
          let kind = (try? source.page(number))?[PageHeader.kindOffset]
          if kind == PageKind.overflow.rawValue {
            overflowPageCount += 1
          } else {
            treePageCount += 1
          }
        }, report: { _, _ in })
    }
    if treePageCount > counts.treePageCount && counts.treePageCount > 0 { counts.splitCount += 1 }
    if treePageCount < counts.treePageCount { counts.mergeCount += 1 }
    if overflowPageCount > 0 { counts.overflowCount += 1 }
    counts.treePageCount = treePageCount
  }
}
