package import PageFile

/// The numbers of the store as a whole: each is one of the words that travel with a commit, so that
/// reading one costs no walk, and a commit that changes some changes no page for them.
///
/// Each is 0 until it is set. See docs/message-format.md, S-3.
package enum StoreWord: Int, CaseIterable {
  /// The unread messages of conversations that are not muted.
  case unread = 0
  /// The unread messages of muted conversations.
  case unreadMuted = 1
  /// The unread messages that mention the local member, in conversations that are not muted.
  case mentions = 2
  /// The unread messages that mention the local member, in muted conversations.
  case mentionsMuted = 3
  /// The number that the next conversation gets; 0 for 1.
  case nextConversation = 4
  /// The number that the next member gets; 0 for 1.
  case nextMember = 5
  /// The ordinal that the next waiting message gets.
  case nextWaiting = 6
  /// The ordinal that the next piece of work gets; 0 for 1.
  case nextWork = 7
  /// The number of messages that have waiting facts and are not here.
  case waitingCount = 8
  /// The number of those that were given up because there were too many.
  case waitingDropped = 9
  /// The latest server time of which the store has heard and which lets messages be erased, in
  /// microseconds; 0 without one.
  case heardTime = 10
  /// The time at which the store last began to prune all conversations, in microseconds.
  case prunedAt = 11
  /// 1 once a member's mark up to a sequence was received.
  case sequenceMarks = 12
  /// The number of the member whose unread messages are counted; 0 without one.
  case localMember = 13
  /// The number of the member for whom the store is being prepared; 0 without one.
  case comingMember = 14
  /// The number of the outbox's entries in each state.
  case queuedEntries = 15
  case heldEntries = 16
  case runningEntries = 17
  case waitingEntries = 18
  case failedEntries = 19
  /// 1 if new entries of the outbox are held.
  case holdsNewEntries = 20
  /// 1 if work in steps on the outbox is left.
  case hasOutboxSteps = 21
  /// The ordinal of the next entry of the outbox; 0 for 1.
  case nextEntry = 22
  /// The number of the next lease; 0 for 1.
  case nextLease = 23
}

extension PageSource {
  package subscript(word: StoreWord) -> UInt64 {
    get { self.word(word.rawValue) }
    set { setWord(word.rawValue, to: newValue) }
  }

  /// Returns a word that is a count.
  ///
  /// A damaged store may have any value.
  package func count(_ word: StoreWord) -> Int { Int(clamping: self[word]) }
}
