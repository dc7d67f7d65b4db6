import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// The waits of an open store: for the next message to expire, and for readers of erased ones.
struct ExpiryTimerTests {
  private let clock = TestClock(1500)

  /// The lost commits had later numbers than those that follow.
  @Test(arguments: [false, true]) func theNextOneIsWaitedForAfterCommitsWereLost(
    loses: Bool
  ) throws {
    let directory = SimulatedDirectory()
    let options = StoreOptions(localMember: "me", clock: { [clock] in clock.now })
    let store = try MessageStore(
      in: directory, name: "store", options: options.makingConversations)
    try store.write(.full) { try $0.insert(message("first", at: 1)) }
    if loses {
      // No sync succeeds from here on, whoever asks for it.
      let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
      directory.set(.fault(Fault(.sync, first: syncCount + 1, failedSync: .showsOld)))
    }
    for index in 0..<40 {
      _ = try? store.write(.relaxed) { chat in
        try chat.insert(expiring(MessageID("far\(index)"), at: 2, until: 3_600_000_000))
      }
    }
    try? store.suspend(checkpoints: false)
    directory.set(nil)
    try store.resume()
    let count = try messageCount(store)
    #expect(count == (loses ? 1 : 41))
    try store.write(.full) { try $0.insert(expiring("near", at: 3, until: 20_000)) }
    clock.set(20_000)
    for _ in 0..<500 where try messageCount(store) != count {
      Thread.sleep(forTimeInterval: 0.02)
    }
    #expect(try messageCount(store) == count)
    try store.close()
  }

  /// Commits of two lives have nothing to do with each other, whatever their numbers are.
  @Test func anErasureOfAFormerLifeEndsNoReader() {
    var held = HeldErasure()
    let begun = [
      held.begin(LSN(42), in: 0), held.begin(LSN(43), in: 0), held.begin(LSN(5), in: 1),
      held.begin(LSN(44), in: 0),
    ]
    #expect(begun == [true, false, true, false])
    let former = held.end(in: 0)
    #expect(former == nil)
    let isBegunAnew = held.begin(LSN(7), in: 1)
    #expect(!isBegunAnew)
    let ended = held.end(in: 1)
    #expect(ended?.waited == LSN(5) && ended?.next == LSN(7))
    let none = held.end(in: 1)
    #expect(none == nil)
  }

  @Test func nothingIsWaitedForAfterTheEnd() {
    var timer = ExpiryTimer()
    timer.wait(until: 3_600_000_000, asOf: LSN(1), in: 0, by: { time(0) }, {})
    #expect(timer.isWaiting)
    timer.end()
    #expect(!timer.isWaiting)
    timer.wait(until: 7_200_000_000, asOf: LSN(2), in: 0, by: { time(0) }, {})
    #expect(!timer.isWaiting)
  }

  /// The moments at which a store is closed.
  enum ClosingMoment: CaseIterable {
    case nothingExpires, expiryIsAwaited, aStepIsUnderWay
  }

  @Test(arguments: ClosingMoment.allCases) func nobodyAsksTheClockOfAClosedStore(
    _ moment: ClosingMoment
  ) throws {
    let asked = AskedClock()
    let options = StoreOptions(localMember: "me", clock: { asked.now() })
    let store = try MessageStore.inMemory(options: options.makingConversations)
    try store.write { chat throws in
      try chat.insert(message("m", at: 1))
      if moment == .nothingExpires { return }
      try chat.insert(expiring("far", at: 2, until: 3_600_000_000))
      if moment == .expiryIsAwaited { return }
      for index in 0..<3 {
        try chat.insert(expiring(MessageID("e\(index)"), at: 3, until: 2000))
      }
    }
    #expect(store.core.isExpiryAwaited == (moment != .nothingExpires))
    if moment == .aStepIsUnderWay {
      asked.holdStep(at: 2000)
      Thread { _ = try? store.write { try $0.insert(message("n", at: 4)) } }.start()
      asked.stepHasBegun.wait()
      let closing = Thread {
        try? store.close()
        asked.isClosed.signal()
      }
      closing.start()
      // The step, or that commit, goes on when the closing has begun.
      for _ in 0..<500 where store.core.isExpiryAwaited { Thread.sleep(forTimeInterval: 0.001) }
      asked.stepMayGoOn.signal()
      asked.isClosed.wait()
    } else {
      try store.close()
    }
    let count = asked.count
    #expect(!store.core.isExpiryAwaited)
    #expect(throws: StoreError.storage(.closed)) { try store.read { try $0.nextExpiry } }
    #expect(asked.count == count)
  }

  /// What expires while a commit is made, between two looks at the clock, is let go all the same.
  @Test func noExpiryFallsBetweenTwoLooks() throws {
    for early in 0..<12 as Range<Int64> {
      let asked = AskedClock()
      let options = StoreOptions(localMember: "me", clock: { asked.now() })
      let store = try MessageStore.inMemory(options: options.makingConversations)
      try store.write { try $0.insert(expiring("m", at: 1, until: 5000)) }
      asked.move(to: 5000 - early, by: 1)
      try store.write { try $0.setPinned(true, of: "room") }
      asked.move(to: 1_005_000, by: 0)
      for _ in 0..<500 where try messageCount(store) != 0 {
        Thread.sleep(forTimeInterval: 0.02)
      }
      #expect(try messageCount(store) == 0, "\(early) µs before")
      try store.close()
    }
  }

  /// A clock that counts the looks at it, and can hold the thread of a step that looks.
  private final class AskedClock: Sendable {
    private let state = Locked((now: Int64(1500), step: Int64(0), count: 0, holds: false))
    let stepHasBegun = DispatchSemaphore(value: 0)
    let stepMayGoOn = DispatchSemaphore(value: 0)
    let isClosed = DispatchSemaphore(value: 0)

    var count: Int { state.withLock { $0.count } }

    func move(to time: Int64, by step: Int64) {
      state.withLock { ($0.now, $0.step) = (time, step) }
    }

    /// Moves on, and holds the next look by a thread that runs no task, as those of steps do.
    func holdStep(at time: Int64) {
      state.withLock { ($0.now, $0.holds) = (time, true) }
    }

    func now() -> Timestamp {
      // Unsafe: the task is compared with nil alone.
      let isTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
      let (now, holds) = state.withLock { state in
        let holds = state.holds && !isTask
        if holds { state.holds = false }
        state.count += 1
        defer { state.now += state.step }
        return (state.now, holds)
      }
      if holds {
        stepHasBegun.signal()
        stepMayGoOn.wait()
      }
      return Timestamp(microseconds: now)
    }
  }

  /// Returns the number of messages that are counted.
  private func messageCount(_ store: MessageStore) throws -> Int? {
    try store.read { try $0.conversation("room")?.messageCount }
  }
}
