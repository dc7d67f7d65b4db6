import Foundation
import MsgStore
import PageFile
import Testing

/// However much there is of anything, one commit changes a bounded number of pages: that of an act,
/// and that of each step of the work that it leaves.
///
/// Pages are counted, not times. `MSGSTORE_STORES=n` makes it n of everything, such as 100,000.
@Suite(.timeLimit(.minutes(30))) struct BoundedCommitTests {
  enum Act: CaseIterable {
    case giveUp, rename, renameDeleted, renameWaiting, delete, release, retry, trim, prune, expire,
      comeBack
  }

  private static let count =
    ProcessInfo.processInfo.environment["MSGSTORE_STORES"].flatMap(Int.init) ?? 700
  /// The most entries and messages that a step changes here.
  private static let stepCount = 20
  /// Neighbours share their pages, so a step changes fewer pages than entries, and those of the
  /// trees' upper levels and of the conversation: some more where the trees are deep.
  private static let maximumPageCount = stepCount + (count > 1000 ? 30 : 10)

  private let clock = TestClock(0)

  private func open(
    _ directory: MemoryDirectory, _ act: Act, steps: StepSizes = StepSizes()
  ) throws -> MessageStore {
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.maximumAge = .seconds(86_400)
    options.erasesExpiredByClock = act == .expire
    options.packs = false
    options.steps = steps
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// Fills a store with much of what the act concerns.
  private func fill(_ act: Act, _ store: MessageStore, text: String) throws {
    let isOwn: Bool
    switch act {
    case .giveUp, .rename, .renameDeleted, .delete, .release, .retry: isOwn = true
    case .renameWaiting, .trim, .prune, .expire, .comeBack: isOwn = false
    }
    try store.write { try $0.insert(chatMessage("s", in: "srv", at: 1)) }
    var index = 0
    while index < Self.count {
      try store.write { chat in
        if act == .release { try chat.outbox.setHoldsNewEntries(true) }
        for _ in 0..<min(100, Self.count - index) {
          let id = MessageID("m\(index)")
          index += 1
          if act == .renameWaiting {
            _ = try chat.receive(Reaction("👍", from: "ann", at: time(5)), to: id, in: "tmp")
          } else if isOwn {
            try chat.send(own(id, in: "tmp", text))
          } else {
            var message = chatMessage(id, in: "tmp", at: Int64(index), text: text)
            if act == .expire || act == .comeBack { message.expiresAt = time(1_000_000) }
            try chat.insert(message)
          }
        }
      }
    }
    try store.write { chat in
      if act == .renameDeleted {
        try chat.insert(chatMessage("old", in: "tmp", at: 5))
        _ = try chat.receiveConversationDeletion("tmp", at: time(9))
      }
      // Nothing is pruned that is unread.
      if act == .prune { try chat.markRead("tmp") }
    }
    if act == .retry {
      while let item = try store.write(.relaxed, { try $0.outbox.next(for: "w") }) {
        try store.write(.relaxed) { try $0.outbox.fail(item, because: SendFailure(.invalid)) }
      }
    }
    if act == .comeBack {
      clock.set(2_000_000)
      try store.finishWork()
    }
  }

  private func perform(_ act: Act, _ store: MessageStore) throws {
    if act == .giveUp { clock.set(2 * 86_400_000_000) }
    if act == .expire { clock.set(2_000_000) }
    if act == .comeBack { clock.set(500_000) }
    try store.write { chat in
      switch act {
      case .giveUp: _ = try chat.outbox.next(for: "w")
      case .rename, .renameDeleted, .renameWaiting: try chat.renameConversation("tmp", to: "srv")
      case .delete: _ = try chat.deleteConversation("tmp")
      case .release: _ = try chat.outbox.releaseAll()
      case .retry: _ = try chat.outbox.retryAll(includesFailed: true)
      case .trim: _ = try chat.receiveConversationDeletion("tmp", at: time(Int64(Self.count - 1)))
      case .prune: try chat.setRetention(Retention(messageCount: 10))
      case .expire, .comeBack: try chat.doWork()
      }
    }
  }

  /// Returns the most pages that a commit has changed, and the number of commits.
  private func measure(
    _ act: Act, text: String = "text", maximumChangedByteCount: Int? = nil
  ) throws -> (pageCount: Int, commitCount: Int) {
    clock.set(0)
    let directory = MemoryDirectory()
    let first = try open(directory, act)
    try fill(act, first, text: text)
    try first.close()
    var steps = StepSizes(
      maximumSweepCount: 5 * Self.stepCount, maximumMergeCount: Self.stepCount,
      maximumEntryCount: Self.stepCount)
    if let maximumChangedByteCount {
      steps = StepSizes()
      steps.maximumChangedByteCount = maximumChangedByteCount
    }
    let store = try open(directory, act, steps: steps)
    var (most, count) = (0, 0)
    func commit(_ body: () throws -> Void) throws {
      try store.checkpoint()
      try body()
      most = max(most, store.statistics.loggedPageCount)
      count += 1
    }
    try commit { try perform(act, store) }
    while try store.read({ try $0.hasWork }) || act == .giveUp && store.counts().queued > 0 {
      try commit {
        try store.write { chat in
          if act == .giveUp { _ = try chat.outbox.next(for: "w") } else { try chat.doWork() }
        }
      }
    }
    try store.expectSound()
    return (most, count)
  }

  @Test(arguments: Act.allCases) func noCommitChangesMoreThanAStepMay(_ act: Act) throws {
    let (pageCount, commitCount) = try measure(act)
    #expect(pageCount <= Self.maximumPageCount, "\(act): \(commitCount) commits")
    #expect(commitCount >= Self.count / (10 * Self.stepCount), "\(act): at most \(pageCount) pages")
  }

  /// Large messages are fewer in a step: the pages that it has changed end it, too.
  @Test(arguments: [Act.giveUp, .rename, .renameDeleted, .release, .retry])
  func noCommitChangesMorePagesThanAStepMay(_ act: Act) throws {
    let limit = 100
    let (pageCount, commitCount) = try measure(
      act, text: noise(9_000), maximumChangedByteCount: limit * 4096)
    // A text that is written anew frees as many pages as it takes. A step ends behind the message
    // that fills it.
    #expect(pageCount <= 2 * limit + 10, "\(act): \(commitCount) commits")
    #expect(commitCount > 5, "\(act): at most \(pageCount) pages")
  }
}
