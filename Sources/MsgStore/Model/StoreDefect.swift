import PageFile

/// Mistakes of the message store that can be planted, one at a time, to see whether the tests find them.
///
/// As `Defect` of the paged file: in an ordinary build none of this exists.
package enum StoreDefect: String, CaseIterable, Sendable {
  // Rules of derived values: tests that do not use the rule have to find them.
  case historyUnread, mentionsOfAll, mutedCountedAlike, pendingUncounted, failedHoldsPreview
  case activityOfLast, listedByCreation, sequencesApart, waitingStatusIgnored, joiningIgnored
  case leftOnesTold, leftOnesCounted, transfersUnlisted

  // Derived values that miss a change.
  case unreadKept, mentionsKept, totalsKept, messageCountKept, previewKept, activityKept
  case listPlaceKept, joinedRunKept, waitingCountKept, laggardKept, untoldKept, participantsKept
  case toldMarkKept, entryCountKept, dueEntryKept

  // Operations: what wins, and what stays.
  case olderEditWins, olderReactionWins, olderTitleWins, largerPlaceWins, lastReplyWins
  case latestReceiptWins, revisionIgnored, statusLowered, markGoesBack, marksStay
  case withdrawnEdited, refusedEditStays, historyLost, otherNamesKept, movedPastDeletion
  case localOrderReused, waitingMarksIgnored, waitingReceiptsIgnored
  case withdrawnStillTold, uploadsNotWaitedFor, supersededHandedOut, tokenKept, attemptsUnlimited

  // Compaction.
  case dictionaryDroppedEarly, placesComparedAlone

  #if PLANTED_DEFECTS
    private static let planted = plantedDefectName.flatMap(StoreDefect.init)
  #endif

  /// True while this defect is planted.
  @inline(__always)
  package var isPlanted: Bool {
    #if PLANTED_DEFECTS
      StoreDefect.planted == self
    #else
      false
    #endif
  }
}
