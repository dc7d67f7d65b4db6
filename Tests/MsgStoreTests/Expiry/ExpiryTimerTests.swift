import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// The wait for the next message to expire, while the store is open.
@Suite struct ExpiryTimerTests {
  private let clock = TestClock(1500)

  /// The lost commits had later numbers than those that follow.
  @Test(arguments: [false, true]) func itGoesOnAfterCommitsWereLost(loses: Bool) throws {
    let directory = SimulatedDirectory()
    let options = StoreOptions(localMember: "me", clock: { [clock] in clock.now })
    let store = try MessageStore(
      in: directory, name: "store", options: options.makingConversations)
    try store.write(.full) { try $0.insert(message("first", at: 1)) }
    for index in 0..<40 {
      try store.write(.relaxed) { chat in
        try chat.insert(expiring(MessageID("far\(index)"), at: 2, until: 3_600_000_000))
      }
    }
    if loses {
      let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
      directory.set(.fault(Fault(.sync, first: syncCount + 1, failedSync: .showsOld)))
    }
    #expect((try? store.suspend(checkpoints: false)) == nil || !loses)
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

  /// Returns the number of messages that are counted.
  private func messageCount(_ store: MessageStore) throws -> Int? {
    try store.read { try $0.conversation("room")?.messageCount }
  }
}
