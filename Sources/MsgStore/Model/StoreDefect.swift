import PageFile

/// Defects of the message store that can be planted, one at a time, to test whether the tests find
/// them.
///
/// Like `Defect` of the paged file, they do not exist in an ordinary build.
package enum StoreDefect: CaseIterable, Sendable {
  // Rules of derived values, to be found by tests that do not use the rule.
  case historyUnread, mentionsOfAll, mutedCountedAlike, pendingUncounted, failedHoldsPreview
  case activityOfLast, listedByCreation, sequencesApart, waitingStatusIgnored, joiningIgnored
  case leftOnesTold, leftOnesCounted, transfersUnlisted, hiddenReplyListed, hiddenTagsListed
  case namedTimesIgnored, timeBeforeStatus, timesUntold, sequenceMarksStay

  // Derived values that miss a change.
  case unreadKept, mentionsKept, totalsKept, messageCountKept, previewKept, activityKept
  case listPlaceKept, joinedRunKept, waitingCountKept, laggardKept, untoldKept, participantsKept
  case comerIgnored, leaverWaitedFor, firstOnesMissing, awaitedKept, comingUnnoted
  case namedReceiptUnlisted
  case toldMarkKept, entryCountKept, dueEntryKept, removedReactionCounted
  case movedReplyKept, replyCountKept, movedTagsKept, tagCountKept
  /// A counted key that several records have stays as it is when one of them goes, so that its
  /// number is one too great from then on.
  case repeatedKeyKept
  /// The entry that a lane hands out next stays so when it is held, fails, or is blocked.
  case asideEntryDue

  // Operations: conflict rules and retained data.
  case olderEditWins, olderReactionWins, olderTitleWins, largerPlaceWins, lastReplyWins
  case latestReceiptWins, revisionIgnored, statusLowered, markGoesBack, marksStay
  case withdrawnEdited, refusedEditStays, historyLost, otherNamesKept, movedPastDeletion
  case olderTagWins, localOrderReused, waitingMarksIgnored, waitingReceiptsIgnored
  case waitingPlaceIgnored
  case forgottenProfileLoses, forgottenProfileKept, olderOwnFieldWins, fieldTokenKept
  case forgottenFieldsKept, olderURLWins, olderListWins, removedAttachmentsStay
  case editNameLost
  /// A run of new messages takes one whose name an earlier one of them has: two messages, one name.
  case repeatedNameEntered
  case withdrawnStillTold, uploadsNotWaitedFor, supersededHandedOut, tokenKept, attemptsUnlimited
  case changedPagesUncounted

  // Retention.
  case sparedPruned, floorKept, oneMorePruned, sparedCountKept
  case neededFileListed, sharedFileListed, unneededFileForgotten

  // Expiry.
  case movedExpiryKept, expiredCounted, expiredShown, erasedByClock
  case muteEndUncounted, olderMuteWins, movedMuteKept, retryTimeKept

  // Change notes for listeners.
  case undoneChangeDropped, lateListenersUntold

  // The ends of a store.
  case failedClosingUntold

  // Requests.
  case requestsUnclamped

  // Packing.
  case dictionaryDroppedEarly, placesComparedAlone, erasedBeside, besideKept
  /// Of several records beside a segment that is packed again one stays, and hides what is told of
  /// its message later.
  case lastBesideKept

  #if PLANTED_DEFECTS
    private static let planted = allCases.first { "\($0)" == plantedDefectName }
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
