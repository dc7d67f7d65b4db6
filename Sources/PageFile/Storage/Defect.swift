#if PLANTED_DEFECTS
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif
#endif

#if PLANTED_DEFECTS
  /// The name of the defect requested by the environment.
  package let plantedDefectName: String? = unsafe getenv("MSGSTORE_DEFECT").map {
    unsafe String(cString: $0)
  }
#endif

/// Protocol mistakes that can be planted, one at a time, to check that the tests find them.
///
/// Each one removes a step that durability or a correct answer depends on, and so marks its place
/// in the code. In an ordinary build `isPlanted` is the constant false, and the compiler drops the
/// code that depends on it. `make test-defects` builds with PLANTED_DEFECTS.
package enum Defect: CaseIterable, Sendable {
  // Omitted syncs.
  case commitUnsynced, olderLogUnsynced, endedLogUnsynced, begunLogUnsynced, pagesUnsynced
  case firstMetaUnsynced, secondMetaUnsynced, openedLogUnsynced, foundNamesUnsynced
  case madeNamesUnsynced, erasedLogUnsynced, erasedSlotsUnsynced

  // Steps omitted or done in the wrong order.
  case metaPublishedOnce, metaNotRewritten, inUseUnmarked, openingNotTurned, mapsMergedBackwards
  case watermarkTooEarly, durableTooEarly, patchOnWrongBase
  case failedSyncForgiven, failedSyncRepeated, failedWriteForgiven
  case cleanBeforeErased, idleLogNotErased, endedLogNotErased, slotsNotErased, owedErasureCut

  // Facts believed without proof.
  case generationWithoutRandom, generationIgnored, chainIgnored, commitNumberIgnored
  case logJoinedUnproven, turnBelievedAlone, openingBelievedAlways, cleanOnOneWord
  case damagePassedOver, oldWitnessesBelieved, missingLogBelieved, otherStoreBelieved
  case settledLogUnmarked
  case freedPagesKept, freedLeafKept, checksumIgnored, versionUnproven, tableRootUnproven
  case wordsDropped
  /// An opening moves the pages of the log to the data file, and leaves the words there that were
  /// set before: whoever opens the store next sees them, unless a later commit names them.
  case staleWordsMoved

  // Seals and keys.
  case slotUnbound, offsetUnbound, headerTagUnbound, chainUnbound, clearBytesUnbound
  case slotIndexUnbound, stampKept, tagIgnored, recordOnlyInSlots
  case plainStoreBelieved, markIgnored, markNotDurable, keyChangedOnce, lockedSlotRewritten
  case oneKeyForAll, pageWrittenPlain, checkFromTag, chainInHeader, paddingOutside, movedAsBytes
  // Of the cipher of the tests: a cipher that an app gets has no such code.
  case nonceKept, nonceFromSeed, nonceFromPlace

  // Slots, numbers, snapshots, and owners.
  case olderTableIgnored, slotsFreedAtOnce, slotsNotReserved, numbersGivenTwice
  case expiryIgnored, lockIgnored, replacedFileIgnored, abortedCommitted

  // Defects that only certain interleavings of threads reveal.
  case readersUnannounced, gateNotAbandoned, roomAskedOnce, walkUnregistered, changedPagesCounted

  /// The defects that only certain interleavings of threads reveal.
  package static let interleaved: [Defect] = [
    .readersUnannounced, .gateNotAbandoned, .roomAskedOnce, .walkUnregistered, .changedPagesCounted,
  ]

  #if PLANTED_DEFECTS
    /// The defect named by the environment; nil also if that name belongs to the layer above.
    private static let planted = allCases.first { "\($0)" == plantedDefectName }
  #endif

  /// True if this defect is planted.
  @inline(__always)
  package var isPlanted: Bool {
    #if PLANTED_DEFECTS
      Defect.planted == self
    #else
      false
    #endif
  }
}
