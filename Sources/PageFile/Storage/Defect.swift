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
  /// The name of the defect that the environment asks for.
  package let plantedDefectName: String? = unsafe getenv("MSGSTORE_DEFECT").map {
    unsafe String(cString: $0)
  }
#endif

/// Mistakes in the protocol that can be planted, one at a time, to see whether the tests find them.
///
/// Each takes out one step that durability or the truth of an answer rests on, and so marks its
/// place. In an ordinary build none of this exists: `isPlanted` is the constant false, and the
/// compiler drops what depends on it. `make test-defects` builds with PLANTED_DEFECTS.
package enum Defect: String, CaseIterable, Sendable {
  // Syncs that are left out.
  case commitUnsynced, olderLogUnsynced, endedLogUnsynced, begunLogUnsynced, pagesUnsynced
  case firstMetaUnsynced, secondMetaUnsynced, openedLogUnsynced, foundNamesUnsynced
  case madeNamesUnsynced, erasedLogUnsynced, erasedSlotsUnsynced

  // Steps left out, or in the wrong order.
  case metaPublishedOnce, metaNotRewritten, inUseUnmarked, openingNotTurned, mapsMergedBackwards
  case watermarkTooEarly, durableTooEarly, patchOnWrongBase
  case failedSyncForgiven, failedSyncRepeated, failedWriteForgiven
  case cleanBeforeErased, idleLogNotErased, endedLogNotErased, slotsNotErased, owedErasureCut

  // What is believed without proof.
  case generationWithoutRandom, generationIgnored, chainIgnored, commitNumberIgnored
  case logJoinedUnproven, turnBelievedAlone, openingBelievedAlways, cleanOnOneWord
  case damagePassedOver, oldWitnessesBelieved, missingLogBelieved, otherStoreBelieved
  case settledLogUnmarked
  case freedPagesKept, checksumIgnored, versionUnproven, tableRootUnproven

  // Slots, numbers, snapshots, and owners.
  case olderTableIgnored, slotsFreedAtOnce, slotsNotReserved, numbersGivenTwice
  case expiryIgnored, lockIgnored, replacedFileIgnored, abortedCommitted

  // What only certain orders of several threads show.
  case readersUnannounced, gateNotAbandoned, roomAskedOnce, walkUnregistered, changedPagesCounted

  /// These.
  package static let interleaved: [Defect] = [
    .readersUnannounced, .gateNotAbandoned, .roomAskedOnce, .walkUnregistered, .changedPagesCounted,
  ]

  #if PLANTED_DEFECTS
    /// The one that the environment names; nil as well when that is one of the layer above.
    private static let planted = plantedDefectName.flatMap(Defect.init)
  #endif

  /// Whether this one is planted.
  @inline(__always)
  package var isPlanted: Bool {
    #if PLANTED_DEFECTS
      Defect.planted == self
    #else
      false
    #endif
  }
}
