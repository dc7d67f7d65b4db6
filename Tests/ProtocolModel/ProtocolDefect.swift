/// A mistake in the protocol that the model can be told to make: each must lead to a violation, or the
/// model would not notice it in the engine either.
package enum ProtocolDefect: String, CaseIterable, Sendable {
  // One sync left out.
  case groupSyncOmitted
  case syncOfEndedFileOmitted
  case syncOfNewHeaderOmitted
  case syncOfCheckpointPagesOmitted
  case syncOfFirstSlotOmitted
  case syncOfSecondSlotOmitted
  case syncOfDirectoryOmitted
  case syncOfRewrittenMetaOmitted
  case syncOfRecoveredPagesOmitted
  case syncOfFirstRecoveredSlotOmitted
  case syncOfSecondRecoveredSlotOmitted
  case syncOfBegunLogOmitted
  case syncOfEmptiedLogOmitted
  case syncOfFirstSlotInUseOmitted
  case syncOfSecondSlotInUseOmitted
  case syncOfLogAfterCleanCloseOmitted
  // Commits.
  case groupSyncOfCurrentFileOnly
  case groupSyncWithoutSize
  case coveredLSNReadAfterSync
  case watermarkBeforeSync
  case commitNamesAppendedLSNAsDurable
  // Checkpoints.
  case logBegunAnewBeforePublication
  case logBegunAnewAfterFirstSlot
  case secondSlotNotPublished
  case stalePublication
  case checkpointOfPagesBeyondTheTurn
  case headerInUseMarked
  case slotsReusedUnderReaders
  case readThroughExpiredSnapshot
  // Reading the log.
  case plainCounterGenerations
  case generationOfCommitsIgnored
  case chainIgnored
  case metaCountsWithoutItsLog
  case cleanMarkOfOneSlotBelieved
  case verdictBelowCheckpoint
  case witnessesInFirstFileOnly
  case witnessesIgnored
  // Opening.
  case logFoundIsContinued
  case metaNotRewritten
  case recoveredSlotsOverOtherTable
  case recoveredSlotsOverLiveTable
  case logBegunBeforeRecoveredPages
  case recoveryPublishesByTurn
  case staysByOpening
  case emptiedLogLeftAsItIs
  case recoveredPagesSkippedIfThere
  case inUseMarkedAtFirstSync
}
