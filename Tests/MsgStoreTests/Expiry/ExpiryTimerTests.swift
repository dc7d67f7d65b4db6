import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// The waits of an open store: for the next message to expire, and for readers of erased ones.
@Suite struct ExpiryTimerTests {
  private let clock = TestClock(1500)

  private let directory = SimulatedDirectory()

  private func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { [clock] in clock.now })
      .makingConversations
    change(&options)
    let store = try MessageStore(in: directory, name: "store", options: options)
    try store.write(.full) { try $0.insert(message("first", at: 1)) }
    return store
  }

  /// Hands the store over and takes it back; its relaxed commits are lost to a sync that fails.
  private func loseCommits(of store: MessageStore) throws {
    let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
    directory.set(.fault(Fault(.sync, first: syncCount + 1, failedSync: .showsOld)))
    #expect(throws: StoreError.self) { try store.suspend(checkpoints: false) }
    directory.set(nil)
    try store.resume()
  }

  /// The lost commits had later numbers than those that follow.
  @Test(arguments: [false, true]) func theNextOneIsWaitedForAfterCommitsWereLost(
    loses: Bool
  ) throws {
    let store = try open()
    for index in 0..<40 {
      try store.write(.relaxed) { chat in
        try chat.insert(expiring(MessageID("far\(index)"), at: 2, until: 3_600_000_000))
      }
    }
    if loses { try loseCommits(of: store) }
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

  @Test func anErasureThatWasLostEndsNoReader() throws {
    let pause = Duration.milliseconds(200)
    let store = try open {
      $0.worksInBackground = false
      $0.erasesExpiredByClock = true
      $0.maximumExpiredReading = pause
    }
    for index in 0..<40 {
      try store.write(.relaxed) { chat in
        try chat.insert(expiring(MessageID("m\(index)"), at: 2, until: 2000))
      }
    }
    clock.set(2000)
    for _ in 0..<100 { try store.write(.relaxed) { try $0.doWork() } }
    clock.set(0)
    #expect(try store.read { try $0.thread("room").tail(5).map(\.id) } == ["first"])
    try loseCommits(of: store)
    try store.read { chat throws in
      #expect(try chat.thread("room").tail(5).map(\.id) == ["first"])
      try store.write(.relaxed) { try $0.insert(message("later", at: 3)) }
      Thread.sleep(forTimeInterval: 3 * (pause / .seconds(1)))
      #expect(try chat.thread("room").tail(5).map(\.id) == ["first"])
    }
    try store.close()
  }

  /// Returns the number of messages that are counted.
  private func messageCount(_ store: MessageStore) throws -> Int? {
    try store.read { try $0.conversation("room")?.messageCount }
  }
}
