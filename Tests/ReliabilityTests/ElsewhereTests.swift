import ChatClient
import MsgStore
import MsgStoreTools
import Testing

/// What has happened while a client was away.
struct ElsewhereTests {
  private let world: World
  private let ann: ChatClient
  private let bob: ChatClient

  init() throws {
    world = try World()
    ann = try world.client("ann")
    bob = try world.client("bob")
  }

  /// Scenario 7, by a clock.
  @Test func fiftyReceivedAfterAnHourAreUnread() async throws {
    let room = try await world.room(ann, bob)
    try bob.say("I am there", in: room)
    // A process of his takes the message out of the outbox, and is stopped.
    let item = try #require(
      try await bob.store.write { chat in try chat.outbox.next(for: "stopped") })
    let expected = (1...50).map { "message \($0)" }
    for text in expected { try ann.say(text, in: room) }
    try await world.settle(ann)
    world.clock.advance(seconds: 3600)

    // Its lease is over by now, so the work is done without it; what it says of that later is of no
    // interest any more.
    #expect(item.expiry < world.clock.now)
    try await world.settle(bob, ann)
    let failure = SendFailure(.noConnection)
    #expect(try await !bob.store.write { chat in try chat.outbox.fail(item, because: failure) })
    #expect(try await !bob.store.write { chat in try chat.outbox.complete(item) })
    #expect(try await bob.store.read { chat in try chat.unreadTotals.messages } == 50)
    #expect(try bob.texts(in: room) == expected + ["I am there"])
    #expect(try await ann.store.read { chat in try chat.unreadTotals.messages } == 1)
    try await bob.store.write { chat in _ = try chat.markRead(room) }
    try await world.settle(bob, ann)
    #expect(try ann.messages(in: room).filter { $0.status == .read }.count == 50)
    try world.expectSameExport(ann, bob)
  }

  /// Scenario 10.
  @Test func fiveConversationsThatWereDeletedElsewhereAreGone() async throws {
    let tablet = try world.client("ann", store: "tablet")
    let rooms = try await eightGroups()
    try await world.settle(ann, tablet, bob)
    #expect(try await tablet.store.read { chat in try chat.conversations(count: 20).count } == 8)
    #expect(try await ann.store.read { chat in try chat.unreadTotals.messages } == 16)

    // The phone is offline, and somebody writes on it.
    try ann.say("not sent yet", in: rooms[1])
    for room in rooms[..<5] {
      try await tablet.store.write { chat in _ = try chat.deleteConversation(room) }
    }
    try await world.settle(tablet)
    try await world.settle(ann, tablet, bob)

    // What had not left goes, and with it the conversation comes back, to both devices.
    for client in [ann, tablet] {
      let list = try await client.store.read { chat in try chat.conversations(count: 20).map(\.id) }
      #expect(Set(list) == Set(rooms[5...] + [rooms[1]]))
      #expect(try client.texts(in: rooms[1]) == ["not sent yet"])
      #expect(try await client.store.read { chat in try chat.unreadTotals.messages } == 6)
      #expect(try client.waitingCount == 0)
    }
    // Bob keeps all of them, and a word of his brings one back.
    #expect(try await bob.store.read { chat in try chat.conversations(count: 20).count } == 8)
    try bob.say("still there?", in: rooms[0])
    try await world.settle(bob, ann, tablet)
    for client in [ann, tablet] {
      #expect(try client.texts(in: rooms[0]) == ["still there?"])
      let title = try await client.store.read { chat in try chat.conversation(rooms[0])?.title }
      #expect(title == "group 0")
      #expect(try await client.store.check() == [])
    }
    try await tablet.store.close()
  }

  /// Eight groups that Bob has made, with two messages of his in each.
  private func eightGroups() async throws -> [ConversationID] {
    let local = try await bob.store.write { chat in
      try (0..<8).map { try chat.createGroup(participants: ["ann"], title: "group \($0)").id }
    }
    for room in local {
      try bob.say("one", in: room)
      try bob.say("two", in: room)
    }
    try await world.settle(bob, ann)
    return try await bob.store.read { chat in
      try local.compactMap { try chat.conversation($0)?.id }
    }
  }
}
