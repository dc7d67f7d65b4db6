import Damage
import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Closing, suspending, and resuming, with each of their system calls failing once: what follows
/// the store ends or goes on, and nothing that was acknowledged is lost.
@Suite(.timeLimit(.minutes(30))) struct ClosingThatFailsTests {
  enum Act: String, CaseIterable {
    case close, suspend, suspendWithoutCheckpoint, resume
  }

  /// The calls of one thread, one of which fails.
  private final class OneFailure: Sendable {
    private struct State {
      var thread: UInt?
      var leftCount = 0
      var failure: PageFileError?
    }

    private let state = Locked(State())

    /// The error that was thrown, once it was.
    var failure: PageFileError? { state.withLock { $0.failure } }

    func word(_ kind: WatchedDirectory.Kind, _ path: String) throws(PageFileError) {
      let failure = state.withLock { state -> PageFileError? in
        guard state.thread == CurrentThread.id, state.failure == nil else { return nil }
        state.leftCount -= 1
        if state.leftCount == 0 {
          state.failure = .ioError(call: "\(kind)", errno: 5, path: path)
        }
        return state.failure
      }
      if let failure { throw failure }
    }

    /// Runs `body`, the n-th call of which fails, and returns its error.
    func run(failingAt number: Int, _ body: () throws(StoreError) -> Void) -> StoreError? {
      state.withLock { $0 = State(thread: CurrentThread.id, leftCount: number) }
      defer { state.withLock { $0.thread = nil } }
      do throws(StoreError) {
        try body()
        return nil
      } catch {
        return error
      }
    }
  }

  /// Everything that follows a store.
  private final class Followers: Sendable {
    struct Seen {
      var changeCount = 0
      var last: MessageID?
      var listed: MessageID?
      var unreadCount = -1
      var handedOut: [String] = []
      var endedCount = 0
      var errors: [any Error] = []
    }

    private let seen = Locked(Seen())
    static let count = 5
    var now: Seen { seen.withLock { $0 } }

    func follow(_ store: MessageStore) {
      let changes = store.changes
      let (thread, list) = (
        store.thread("room").live(newest: 3), store.conversations.live(newest: 3)
      )
      let (totals, work) = (store.conversations.liveUnreadTotals, store.work(for: "w"))
      run { seen in
        for await _ in changes { seen.withLock { $0.changeCount += 1 } }
      }
      run { seen in
        for try await value in thread { seen.withLock { $0.last = value.slice.last?.id } }
      }
      run { seen in
        for try await value in list {
          seen.withLock { $0.listed = value.conversations.first?.preview?.messageID }
        }
      }
      run { seen in
        for try await value in totals { seen.withLock { $0.unreadCount = value.messages } }
      }
      run { seen in
        for try await item in work { seen.withLock { $0.handedOut.append(item.name) } }
      }
    }

    private func run(_ body: @escaping @Sendable (Locked<Seen>) async throws -> Void) {
      Task { [seen] in
        do { try await body(seen) } catch { seen.withLock { $0.errors.append(error) } }
        seen.withLock { $0.endedCount += 1 }
      }
    }
  }

  private struct TakesTooLong: Error {}

  /// Waits for what has to come; a test that failed by waiting for ever would say less.
  private func wait(_ what: String, until isOver: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !isOver() {
      guard .now < end else {
        Issue.record("\(what)")
        throw TakesTooLong()
      }
      await Task.yield()
    }
  }

  private func open(_ directory: some StorageDirectory) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) }).makingConversations
    options.worksInBackground = false
    options.sleep = { _ in try? await Task.sleep(for: .milliseconds(1)) }
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// Returns false if there was no such call to fail.
  private func run(_ act: Act, failingAt number: Int) async throws -> Bool {
    let disk = SimulatedDirectory()
    let directory = WatchedDirectory(disk)
    let failure = OneFailure()
    let store = try open(directory)
    try await store.write { try $0.insert(message("m0", at: 0)) }
    try await store.checkpoint()
    for number in 1..<4 {
      try await store.write { try $0.insert(message(MessageID("m\(number)"), at: Int64(number))) }
    }
    // Not durable yet, so that there is something to sync.
    try await store.write(.relaxed) { try $0.insert(message("loose", at: 4)) }
    let followers = Followers()
    followers.follow(store)
    let context = "\(act), call \(number)"
    try await wait("\(context): first values") {
      followers.now.last == "loose" && followers.now.listed == "loose"
        && followers.now.unreadCount == 5
        && store.listenerCount == Followers.count
    }
    if act == .resume { try await store.suspend() }
    directory.before { (kind, path) throws(PageFileError) in try failure.word(kind, path) }
    let error = failure.run(failingAt: number) { () throws(StoreError) in
      switch act {
      case .close: try store.close()
      case .suspend: try store.suspend()
      case .suspendWithoutCheckpoint: try store.suspend(checkpoints: false)
      case .resume: try store.resume()
      }
    }
    let failed = failure.failure
    if let error { expectSubject(error, failed, context) }
    try expectAll(SimulatedDirectory(disk.disk.afterPowerCut(PowerCut(), .worst)), context)
    if act != .close {
      try await resume(store, followers, context)
      try await store.close()
    }
    try await wait("\(context): what follows ends") {
      followers.now.endedCount == Followers.count && store.listenerCount == 0
    }
    #expect(followers.now.errors.isEmpty, "\(context)")
    await #expect(throws: StoreError.storage(.closed), "\(context)") {
      try await store.read { _ in }
    }
    try expectAll(SimulatedDirectory(disk.disk), context)
    return failed != nil
  }

  /// What follows a store goes on, however it was suspended and resumed.
  private func resume(
    _ store: MessageStore, _ followers: Followers, _ context: String
  ) async throws {
    let changeCount = followers.now.changeCount
    try await store.resume()
    try await store.write { try $0.insert(message("new", at: 10)) }
    _ = try await store.send(own("mine"))
    try await wait("\(context): what follows goes on") {
      let now = followers.now
      return now.changeCount > changeCount && now.last == "mine" && now.listed == "mine"
        && now.unreadCount == 6 && now.handedOut == ["send mine"]
    }
  }

  private func expectSubject(_ error: StoreError, _ failure: PageFileError?, _ context: String) {
    switch error {
    case .storage(.commitUnknown): break
    case .storage(let found): #expect(found == failure, "\(context)")
    default: Issue.record("\(context): \(error)")
    }
  }

  private func expectAll(_ directory: SimulatedDirectory, _ context: String) throws {
    let store = try open(directory)
    let ids = try store.read { try $0.thread("room").tail(100).ids }
    #expect(ids.starts(with: ["m0", "m1", "m2", "m3"]), "\(context)")
    #expect(try store.check() == [], "\(context)")
    try store.close()
  }

  @Test(arguments: Act.allCases) func eachCallMayFail(_ act: Act) async throws {
    var number = 1
    while try await run(act, failingAt: number) { number += 1 }
    #expect(number > 1, "calls were made to fail")
  }
}
