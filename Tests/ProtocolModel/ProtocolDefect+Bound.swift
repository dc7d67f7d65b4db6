extension ProtocolDefect {
  /// What crashes do not need: leaving it out leads to no violation within any bound tried.
  ///
  /// An opening begins a life whose counter is above all that are in sight, so a header of an earlier
  /// life is ignored whether it is overwritten or not.
  package static let harmless: [ProtocolDefect] = [.emptiedLogLeftAsItIs, .syncOfEmptiedLogOmitted]

  package static let harmful = allCases.filter { !harmless.contains($0) }

  /// A bound within which the defect shows, about as small as there is.
  package var bound: Bound {
    switch self {
    case .groupSyncOmitted, .watermarkBeforeSync, .syncOfLogAfterCleanCloseOmitted,
      .metaCountsWithoutItsLog, .staysByOpening:
      Bound(commits: 1, turns: 0, crashes: 1)
    case .syncOfDirectoryOmitted, .syncOfBegunLogOmitted, .syncOfSecondSlotInUseOmitted,
      .recoveryPublishesByTurn:
      Bound(commits: 1, turns: 0, crashes: 1, hasLog: false)
    case .coveredLSNReadAfterSync, .commitNamesAppendedLSNAsDurable, .witnessesIgnored:
      Bound(commits: 2, turns: 0, crashes: 1)
    case .groupSyncWithoutSize:
      Bound(commits: 2, turns: 0, crashes: 1, growths: 1)
    case .headerInUseMarked:
      Bound(
        commits: 1, turns: 0, crashes: 2, closes: 1, tearsSectors: true, erases: true,
        rewritesMetaAfterClose: true)
    case .syncOfEndedFileOmitted, .syncOfNewHeaderOmitted, .syncOfCheckpointPagesOmitted,
      .groupSyncOfCurrentFileOnly, .verdictBelowCheckpoint, .recoveredSlotsOverLiveTable,
      .inUseMarkedAtFirstSync:
      Bound(commits: 1, turns: 1, crashes: 1)
    case .checkpointOfPagesBeyondTheTurn, .chainIgnored, .witnessesInFirstFileOnly:
      Bound(commits: 2, turns: 1, crashes: 1)
    case .syncOfSecondSlotOmitted, .logBegunAnewBeforePublication, .logBegunAnewAfterFirstSlot,
      .secondSlotNotPublished:
      Bound(commits: 2, turns: 2, crashes: 1)
    case .stalePublication:
      Bound(commits: 2, turns: 2, crashes: 1, erases: true)
    case .slotsReusedUnderReaders, .readThroughExpiredSnapshot:
      Bound(commits: 2, turns: 2, crashes: 0, readers: 1)
    case .syncOfRecoveredPagesOmitted, .logFoundIsContinued:
      Bound(commits: 1, turns: 0, crashes: 2)
    case .logBegunBeforeRecoveredPages:
      Bound(commits: 1, turns: 0, crashes: 2, hasLog: false)
    case .plainCounterGenerations, .generationOfCommitsIgnored:
      Bound(commits: 2, turns: 1, crashes: 2)
    case .cleanMarkOfOneSlotBelieved:
      Bound(commits: 2, turns: 1, crashes: 2, closes: 1, tearsSectors: true)
    case .syncOfFirstSlotOmitted:
      Bound(commits: 1, turns: 1, crashes: 2, tearsSectors: true)
    case .syncOfFirstRecoveredSlotOmitted, .syncOfSecondRecoveredSlotOmitted,
      .syncOfFirstSlotInUseOmitted:
      Bound(commits: 1, turns: 0, crashes: 2, tearsSectors: true)
    case .metaNotRewritten:
      Bound(commits: 1, turns: 0, crashes: 2, tearsSectors: true, failedSyncs: 1)
    case .syncOfRewrittenMetaOmitted, .recoveredSlotsOverOtherTable:
      Bound(commits: 2, turns: 1, crashes: 3, tearsSectors: true)
    case .recoveredPagesSkippedIfThere:
      Bound(commits: 1, turns: 0, crashes: 3, failedSyncs: 1)
    case .emptiedLogLeftAsItIs, .syncOfEmptiedLogOmitted:
      Bound(commits: 1, turns: 1, crashes: 2)
    }
  }
}
