import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Expiring messages in copies, and beside packed segments.
struct ExpiryCopyTests {
  private let clock = TestClock(1000)

  private func options(at moment: Int64) -> StoreOptions {
    var options = StoreOptions(localMember: "me", clock: { time(moment) }).makingConversations
    options.worksInBackground = false
    return options
  }

  @Test func salvagedMessagesExpireAsBefore() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("chat")
    var store = try MessageStore(path: path, options: options(at: 1000))
    let late = Int64(7_000_000_000_000_000)
    try store.write { chat throws in
      try chat.insert(expiring("gone", at: 10, until: 2000))
      try chat.insert(expiring("late", at: 20, until: late))
      try chat.insert(message("stays", at: 30))
      try chat.receiveExpiry(of: "unknown", in: "room", at: time(late))
    }
    try store.close()
    let summary = try MessageStore.salvage(damaged: path, to: directory.path("new"))
    #expect(summary.isWhole)
    // At its time it is hidden in the new store, and at an earlier one as little lost as before.
    for (moment, shown) in [(2000, ["late", "stays"]), (1000, ["gone", "late", "stays"])] {
      store = try MessageStore(path: directory.path("new"), options: options(at: Int64(moment)))
      #expect(try store.shownIDs() == shown, "at \(moment)")
      try store.finishWork()
      #expect(try store.read { try $0.conversation("room")?.unreadCount } == shown.count)
      #expect(try store.read { try $0.message("late", in: "room")?.expiresAt } == time(late))
      try store.expectSound()
      try store.close()
    }
    store = try MessageStore(path: directory.path("new"), options: options(at: 1000))
    try store.write { try $0.insert(message("unknown", at: 40)) }
    #expect(try store.read { try $0.message("unknown", in: "room")?.expiresAt } == time(late))
    try store.expectSound()
    try store.close()
  }

  @Test func anEditBesideASegmentExpiresWithItsMessage() throws {
    let files = MemoryDirectory()
    let store = try expiringStore(clock, in: files)
    try store.write { chat throws in
      for index in 1...60 as ClosedRange<Int64> {
        try chat.insert(
          expiring(
            MessageID("m\(index)"), at: index, index, until: index == 7 ? 2000 : nil,
            text: index == 7 ? "SECRET-ONE" : "plain text number \(index)"))
      }
    }
    try store.finishWork()
    #expect(try Cells(files).segments.count > 0)
    try store.write { chat throws in
      try chat.receiveEdit(of: "m7", in: "room", text: "SECRET-TWO", at: time(100))
    }
    clock.set(2000)
    #expect(try !store.shownIDs().contains("m7"))
    #expect(try store.read { try $0.search(SearchQuery("SECRET")).isEmpty })
    try store.finishWork()
    try store.expectSound()
    clock.set(2100)
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 2050)) }
    try store.finishWork()
    try store.checkpoint()
    #expect(!files.holds("SECRET-ONE") && !files.holds("SECRET-TWO"))
    clock.set(1500)
    #expect(try store.shownIDs().count == 59)
    try store.expectSound()
    try store.close()
  }

  @Test func anExportOfHiddenMessagesRestoresToItself() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      for index in 1...30 as ClosedRange<Int64> {
        try chat.insert(
          expiring(
            MessageID("m\(index)"), at: index, index,
            until: index % 3 == 0 ? 2000 : index % 3 == 1 ? 9000 : nil))
      }
    }
    for moment in [1000, 2000] as [Int64] {
      clock.set(moment)
      let lines = try store.lines()
      var pieces = [lines]
      let directory = try TemporaryDirectory()
      try MessageStore.restore(to: directory.path("copy"), reading: { pieces.popLast() ?? [] })
      let copy = try MessageStore(path: directory.path("copy"), options: options(at: moment))
      #expect(try copy.lines() == lines, "at \(moment)")
      #expect(try copy.shownIDs() == store.shownIDs())
      try copy.expectSound()
      try copy.close()
    }
    try store.close()
  }
}
