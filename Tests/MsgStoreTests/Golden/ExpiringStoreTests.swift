import Damage
import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A store with expiring messages as this version left it, in the middle of a step's work.
///
/// It lies in `Stores/expiring.txt`, see `StoreText`. Until the first release
/// `MSGSTORE_GOLDEN=record swift test --filter ExpiringStoreTests` makes it anew.
struct ExpiringStoreTests {
  private static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Stores/expiring.txt")
  private let clock = TestClock(1000)

  private func files() throws -> MemoryDirectory {
    try StoreText.files(
      String(decoding: Data(contentsOf: Self.url), as: UTF8.self), storeName: "store")
  }

  /// Makes the store.
  ///
  /// Four messages of one moment expire, and counters have let two of them go; two more and a
  /// pending one expire later, and so does one that is not there yet. The conversation is muted up
  /// to the later time.
  private func record() throws {
    let files = MemoryDirectory()
    let store = try expiringStore(clock, in: files) { $0.steps = StepSizes(maximumSweepCount: 2) }
    try store.write { chat throws in
      for index in 1...8 as ClosedRange<Int64> {
        let end: Int64? = index < 5 ? 2000 : index < 7 ? 3000 : nil
        try chat.insert(
          expiring(
            MessageID("m\(index)"), at: index < 5 ? 10 : 10 + index, index, until: end))
      }
      try chat.send(expiring("p", at: nil, from: "me", until: 3000))
      try chat.receiveExpiry(of: "unknown", in: "room", at: time(2500))
      try chat.setMuted(true, of: "room", until: time(3000))
    }
    clock.set(2000)
    try store.write { try $0.doWork() }
    try store.close()
    try Data(StoreText.text(of: files, ["store"]).utf8).write(to: Self.url)
  }

  @Test func whatItHasExpiredIsReadForEver() throws {
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record" { try record() }
    let all = (1...8).map { "m\($0)" } + ["p"]
    for (now, shown) in [
      (1500, all), (2000, ["m5", "m6", "m7", "m8", "p"]), (3000, ["m7", "m8"]),
    ] as [(Int64, [String])] {
      clock.set(now)
      let reader = try expiringStore(clock, in: files()) { $0.access = .readOnly }
      #expect(try reader.shownIDs() == shown, "at \(now)")
      let isMuted = try reader.read { try $0.conversation("room")?.isMuted }
      #expect(isMuted == (now < 3000), "at \(now)")
      try reader.close()
      let store = try expiringStore(clock, in: files())
      #expect(try store.read { try $0.conversation("room")?.unreadCount } == 6)
      try store.expectSound()
      try store.finishWork()
      let unread = shown.filter { $0 != "p" }.count
      #expect(try store.read { try $0.conversation("room")?.unreadCount } == unread, "at \(now)")
      let totals = try store.read { try $0.unreadTotals }
      #expect((now < 3000 ? totals.mutedMessages : totals.messages) == unread, "at \(now)")
      try store.expectSound()
      try store.close()
    }
    clock.set(4000)
    let store = try expiringStore(clock, in: files())
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 3500)) }
    try store.finishWork()
    clock.set(1500)
    let left = try store.shownIDs()
    #expect(left == ["m7", "m8"])
    // Its mute is over for good.
    #expect(try store.read { try $0.conversation("room")?.isMuted } == false)
    try store.expectSound()
    try store.close()
  }
}
