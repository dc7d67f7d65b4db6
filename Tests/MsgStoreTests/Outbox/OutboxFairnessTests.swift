import MsgStore
import PageFile
import Testing

/// The oldest goes first, also where it has failed before, or was with somebody who died.
struct OutboxFairnessTests {
  private func filled(_ clock: TestClock, count: Int = 200) throws -> MessageStore {
    let store = try clock.outboxStore()
    try store.write { chat in
      try chat.send(own("first", in: "first"))
      for index in 0..<count {
        try chat.send(own(MessageID("m\(index)"), in: ConversationID("c\(index)")))
      }
    }
    return store
  }

  @Test func aRetryGoesBeforeWhatWasQueuedLater() throws {
    let clock = TestClock()
    let store = try filled(clock)
    try store.fail(try store.take())
    #expect(try store.take().name == "send m0")
    clock.advance(2)
    #expect(try store.take().name == "send first")
    #expect(try store.take().name == "send m1")
  }

  @Test func workWhoseLeaseHasExpiredGoesBeforeWhatWasQueuedLater() throws {
    let clock = TestClock()
    let store = try filled(clock)
    #expect(try store.take(lease: .seconds(5)).name == "send first")
    #expect(try store.take(lease: .seconds(500)).name == "send m0")
    clock.advance(6)
    #expect(try store.take().name == "send first")
    #expect(try store.take().name == "send m1")
  }

  @Test func aRetryDoesNotGoBeforeWhatWasQueuedEarlier() throws {
    let clock = TestClock()
    let store = try filled(clock, count: 3)
    let items = try (0..<4).map { _ in try store.take() }
    try store.fail(items[2])
    try store.write { chat in
      for index in [0, 1, 3] { try chat.outbox.returnWork(items[index]) }
    }
    clock.advance(2)
    #expect(try store.drain() == ["send first", "send m0", "send m1", "send m2"])
  }

  /// However much fails again and again, what is queued has its turn.
  @Test func whatFailsAgainAndAgainKeepsNothingBack() throws {
    let clock = TestClock()
    let store = try filled(clock, count: 60)
    for _ in 0..<61 { try store.fail(try store.take()) }
    try store.write { try $0.send(own("last", in: "last")) }
    var names: [String] = []
    for _ in 0..<2000 where names.last != "send last" {
      clock.advance(1)
      guard let item = try store.next() else { continue }
      names.append(item.name)
      if item.name != "send last" { try store.fail(item) }
    }
    #expect(names.last == "send last")
  }

  @Test func beforeTheFirstOfJanuary1970WorkGoesOutToo() throws {
    let clock = TestClock(-86_400_000_000)
    let store = try filled(clock, count: 1)
    let first = try store.take(lease: .seconds(5))
    #expect(try store.take().name == "send m0")
    #expect(try store.next() == nil)
    clock.advance(6)
    #expect(try store.take().token == first.token)
  }
}
