import Foundation
import MsgStore
import PageFile
import RandomChat
import Simulation
import Testing

/// Whatever is done to a store, a live value that has nothing more to say is what a read gives.
///
/// What fails is made small and printed. `MSGSTORE_STORES=n` makes n stores.
struct LiveIsReadTests {
  @Test func liveValuesAreWhatIsRead() {
    var valueCount = 0
    for seed in seeds(storeCount(Scale.count(debug: 1, release: 4))) {
      valueCount += follow(seed)
    }
    #expect(valueCount > 50, "or nothing was compared")
  }

  private func storeCount(_ usual: Int) -> Int {
    let text = ProcessInfo.processInfo.environment["MSGSTORE_STORES"]
    return text.flatMap { Int($0) } ?? usual
  }

  /// Returns the number of values taken.
  private func follow(_ seed: UInt64) -> Int {
    // Where nothing expires meanwhile, screens look between the steps of work, too.
    let expires = seed % 2 == 0
    var random = RandomStore(
      seed: seed, packing: .random(seed), idCount: seed % 5 == 0 ? 40 : 8, isNarrow: seed % 3 == 0)
    random.expiresLater = !expires
    var valueCount = 0
    random.expectSound(stepCount: Scale.count(debug: 40, release: 150)) { made in
      var dice = SeededGenerator(seed: seed ^ 0x11FE)
      var screens = Self.screens(&dice)
      let store = try made.play { store in
        // An expiry is told with the step that lets its message go.
        if expires { try store.finishWork() }
        for index in screens.indices { try screens[index].look(store, &dice) }
      }
      valueCount = screens.reduce(0) { $0 + $1.valueCount }
      try store.close()
      return nil
    }
    return valueCount
  }

  static func screens(_ random: inout SeededGenerator) -> [LiveScreen] {
    let rooms = RandomActs.conversations
    var screens: [LiveScreen] = []
    for room in rooms {
      for counts in [true, false] {
        screens.append(tail(room, .random(in: 1...12, using: &random), counts))
      }
      let pin = MessageID("m\(random.next() % 8)")
      screens.append(around(room, pin, .random(in: 1...9, using: &random)))
      screens.append(replies(room, pin, .random(in: 1...5, using: &random)))
      screens.append(
        tagged(room, RandomActs.tags.randomElement(using: &random) ?? .pinned))
      screens.append(
        .value("\(room)", { $0.conversations.live(room) }) { try $0.conversation(room) })
      screens.append(
        .scope("all of \(room)", .conversation(room)) {
          try RoomPicture(room, $0, CalledSteps())
        })
      screens.append(
        .value("outbox of \(room)", { $0.liveOutbox(count: 3, in: room) }) {
          try $0.outbox.entries(in: room, count: 3)
        })
    }
    screens.append(at(rooms[0], Timestamp(microseconds: 1_005_000), 6))
    for count in [1, 2, 9] {
      screens.append(.list("list of \(count)", isArchived: false, count))
      screens.append(.list("archive of \(count)", isArchived: true, count))
    }
    screens.append(
      .value("outbox", { $0.liveOutbox(count: 20) }) { try $0.outbox.entries(count: 20) })
    screens.append(
      .value("totals", { $0.conversations.liveUnreadTotals }) { try $0.unreadTotals })
    screens.append(
      .scope("list", .list) { chat in
        Array(try chat.conversations(count: 9)) + Array(try chat.archivedConversations(count: 9))
      })
    screens.append(.scope("profiles", .profiles) { try $0.profiles() })
    screens.append(
      .scope("everything", .everything) {
        try WholePicture($0, CalledSteps())
      })
    return screens
  }

  private static func tail(_ room: ConversationID, _ count: Int, _ counts: Bool) -> LiveScreen {
    .thread(
      "newest \(count) of \(room)\(counts ? " with receipts" : "")",
      { $0.thread(room).live(newest: count, countsReceipts: counts) },
      { try $0.thread(room).tail(count) })
  }

  private static func around(_ room: ConversationID, _ pin: MessageID, _ count: Int) -> LiveScreen {
    .thread(
      "\(count) around \(pin) of \(room)",
      { $0.thread(room).live(around: pin, count: count, countsReceipts: true) },
      // Only who follows knows the place of a message that was deleted.
      { try $0.message(pin, in: room) == nil ? nil : $0.thread(room).around(pin, count: count) })
  }

  private static func at(_ room: ConversationID, _ time: Timestamp, _ count: Int) -> LiveScreen {
    .thread(
      "\(count) at \(time) of \(room)", { $0.thread(room).live(at: time, count: count) },
      { try $0.thread(room).at(time, count: count) })
  }

  private static func replies(_ room: ConversationID, _ id: MessageID, _ count: Int) -> LiveScreen {
    .thread(
      "replies to \(id) in \(room)",
      { $0.thread(room).live(repliesTo: id, newest: count, countsReceipts: true) },
      { try $0.replies(to: id, in: room).newest(count) })
  }

  private static func tagged(_ room: ConversationID, _ tag: MessageTag) -> LiveScreen {
    .thread(
      "\(tag) in \(room)",
      { $0.thread(room).live(tagged: tag, newest: 4, countsReceipts: true) },
      { try $0.thread(room).tagged(tag).tail(4) })
  }
}
