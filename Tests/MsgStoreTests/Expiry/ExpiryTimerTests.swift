import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// The waits of an open store: for the next message to expire, and for readers of erased ones.
@Suite struct ExpiryTimerTests {
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

  /// Returns the number of messages that are counted.
  private func messageCount(_ store: MessageStore) throws -> Int? {
    try store.read { try $0.conversation("room")?.messageCount }
  }
}
