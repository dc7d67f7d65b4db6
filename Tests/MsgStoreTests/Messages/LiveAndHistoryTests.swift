import MsgStore
import Testing

/// A message that comes both as history and live.
struct LiveAndHistoryTests {
  private let acts: [ToldFact] = [
    { _ = try $0.insert(chatMessage("u", in: "room", at: 100)) },
    { _ = try $0.markRead("room") },
  ]

  private func copy(at time: Int64, as arrival: Arrival) -> ToldFact {
    { _ = try $0.insert(chatMessage("m", in: "room", at: time), as: arrival) }
  }

  private func unread(_ chat: borrowing StoreSnapshot) throws -> Int? {
    try chat.conversation("room")?.unreadCount
  }

  @Test(
    arguments: [(60, 50), (50, 60), (50, 50), (150, 50), (50, 150), (150, 160)] as [(Int64, Int64)])
  func itIsUnreadBelowTheReadMarkInEitherOrder(_ history: Int64, _ live: Int64) throws {
    let facts = [copy(at: history, as: .history), copy(at: live, as: .live)]
    #expect(try outcomes(after: acts, of: facts, see: unread) == [1])
    #expect(try outcomes(of: facts, see: unread) == [1])
  }

  @Test func aMessageThatCameInARunOfHistoryIsUnreadOnceItComesLive() throws {
    let store = try TestClock().store()
    for act in acts { try store.write { try act($0) } }
    let run = (0..<40).map { index in
      var message = chatMessage(MessageID("m\(index)"), in: "room", at: 20 + Int64(index))
      if index % 10 == 5 { message.replyTo = "u" }
      return message
    }
    try store.write { _ = try $0.insert(contentsOf: run, as: .history) }
    #expect(try store.read(unread) == 0)
    for (count, index) in [0, 5, 19, 20, 25, 39].enumerated() {
      try store.write { _ = try $0.insert(run[index], as: .live) }
      #expect(try store.read(unread) == count + 1)
    }
    try store.expectSound()
  }

  @Test func whatWasReadAsHistoryStaysReadWhenItComesLive() throws {
    let moved: [ToldFact] = [
      copy(at: 50, as: .live),
      { _ = try $0.acknowledge("m", in: "room", serverTimestamp: time(150), revision: 1) },
    ]
    #expect(
      try outcomes(after: [copy(at: 50, as: .history)] + acts, of: moved, see: unread) == [0])
  }

  @Test func anExportKeepsThatHistoryCameAfterTheMark() throws {
    let store = try TestClock().store()
    for act in acts { try store.write { try act($0) } }
    try store.write { try copy(at: 50, as: .history)($0) }
    func line(_ store: MessageStore) throws -> Substring? {
      String(decoding: try store.lines(), as: UTF8.self).split(separator: "\n").first {
        $0.contains(#""kind":"message","conversation":"room","id":"m""#)
      }
    }
    let exported = try line(store)
    #expect(exported?.contains(#""arrival":"history","late":true"#) == true)
    let restored = try MessageStore.restored(from: store.lines())
    #expect(try line(restored) == exported)
    try restored.write { try copy(at: 50, as: .live)($0) }
    #expect(try restored.read(unread) == 1)
    try restored.expectSound()
  }

  @Test func theServerIsToldOfItWithTheNextMark() throws {
    let told = try outcomes(
      after: acts, of: [copy(at: 50, as: .history), copy(at: 50, as: .live)]
    ) { chat in
      try chat.pendingReceipts(in: "room", .read, as: .ids()).flatMap(\.ids)
    }
    #expect(told == [["u"]])
    let store = try TestClock().store()
    for act in acts + [copy(at: 50, as: .history), copy(at: 50, as: .live)] {
      try store.write { try act($0) }
    }
    try store.write { _ = try $0.markRead("room") }
    let ids = try store.read { chat in
      try chat.pendingReceipts(in: "room", .read, as: .ids()).flatMap(\.ids)
    }
    #expect(Set(ids) == ["u", "m"])
  }
}
