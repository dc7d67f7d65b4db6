import ChatClient
import MsgStore
import Testing

/// Links that break at any moment: everything arrives, once, in order.
@Suite(.serialized) struct LinkTests {
  private let world: World
  private let ann: ChatClient
  private let bob: ChatClient

  init() throws {
    world = try World()
    ann = try world.client("ann")
    bob = try world.client("bob")
  }

  /// Scenario 1.
  @Test func fiftyMessagesPassALinkThatGoesUpAndDownFiveTimes() async throws {
    let room = try await world.room(ann, bob)
    // Ten requests get through, then three do not, and of these the first is done by the server every
    // second time.
    world.server.setFaultsByNumber { number in
      let (round, index) = ((number - 1) / 13, (number - 1) % 13)
      guard round < 5, index >= 10 else { return nil }
      return index == 10 && round % 2 == 0 ? .loseAnswer : .loseRequest
    }
    for number in 1...50 {
      try ann.say("message \(number)", in: room)
      // Some are written while others are on their way.
      if number % 7 == 0 {
        try await ann.sync()
        try await bob.sync()
      }
    }
    try await world.settle(ann, bob)

    let expected = (1...50).map { "message \($0)" }
    let taken = world.server.messages(in: room)
    #expect(taken.map(\.text) == expected)
    #expect(taken.map(\.sequence) == (1...50).map { $0 })
    #expect(try ann.texts(in: room) == expected)
    #expect(try bob.texts(in: room) == expected)
    #expect(try ann.messages(in: room).allSatisfy { $0.status == .delivered })
    #expect(try ann.waitingCount == 0)
    try world.expectSameExport(ann, bob)
  }

  /// Whichever request gets lost, before the server has it or after it is done: the end is the same.
  ///
  /// After a lost answer the client hears of its own doing as news first, and gets the answer then.
  @Test(arguments: 1...16) func anyRequestMayGetLost(_ lost: Int) async throws {
    world.server.setFaultsByNumber { number in
      number == lost ? .loseAnswer : number == lost + 1 ? .loseRequest : nil
    }
    // The server is to make one group, however often it is asked.
    let room = try await ann.store.write { chat in
      try chat.createGroup(participants: ["bob"], title: "us two").id
    }
    let kept = try ann.say("one", in: room).value.id
    let gone = try ann.say("two", in: room).value.id
    for _ in 1...2 {
      try await ann.sync()
      try await bob.sync()
    }
    try await ann.store.write { chat in
      try chat.edit(kept, in: room, text: "uno")
      try chat.retract(gone, in: room)
      try chat.setTitle("you and me", of: room)
    }
    if let name = try onlyRoom(of: bob), try bob.texts(in: name).contains("one") {
      try await bob.store.write { chat in
        try chat.react("👍", to: kept, in: name)
        try chat.react("👎", to: kept, in: name)
        try chat.markRead(name)
      }
    }
    try await world.settle(ann, bob)
    let name = try #require(try onlyRoom(of: bob))
    try bob.say("three", in: name)
    try await world.settle(ann, bob)
    #expect(try onlyRoom(of: ann) == name)
    for client in [ann, bob] {
      // The second one is hidden, or has never left.
      let messages = try client.messages(in: name)
      #expect(messages.filter { !$0.isRetracted }.map(\.text) == ["uno", "three"])
    }
    try world.expectSameExport(ann, bob)
  }

  /// The one conversation that a client knows; nil while it knows none.
  private func onlyRoom(of client: ChatClient) throws -> ConversationID? {
    let rooms = try client.store.read { chat in try chat.conversations(count: 5).map(\.id) }
    #expect(rooms.count <= 1)
    return rooms.first
  }

  /// Scenario 6.
  @Test func aHundredWithOneTimestampKeepTheirOrder() async throws {
    let room = try await world.room(ann, bob)
    world.clock.stop()
    let expected = (1...100).map { "message \($0)" }
    for text in expected { try ann.say(text, in: room) }
    #expect(try ann.texts(in: room) == expected)
    try await world.settle(ann, bob)
    #expect(Set(world.server.messages(in: room).map(\.time)).count == 1)
    #expect(world.server.messages(in: room).map(\.text) == expected)
    #expect(try ann.texts(in: room) == expected)
    #expect(try bob.texts(in: room) == expected)
    try world.expectSameExport(ann, bob)
  }

  /// Scenario 4.
  @Test func tenSendersAtOnceAreAllThereInTheServersOrder() async throws {
    let members = (0..<10).map { MemberID("member-\($0)") }
    let clients = try members.map { try world.client($0) }
    let local = try await clients[0].store.write { chat in
      try chat.createGroup(participants: members, title: "all").id
    }
    try await world.settle(clients)
    let room = try #require(
      try await clients[0].store.read { chat in try chat.conversation(local)?.id })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in clients {
        group.addTask {
          for number in 1...5 {
            try client.say("\(client.member) \(number)", in: room)
            try await client.sync()
          }
        }
      }
      try await group.waitForAll()
    }
    try await world.settle(clients)

    let taken = world.server.messages(in: room)
    #expect(taken.map(\.sequence) == (1...50).map { $0 })
    let texts = taken.map(\.text)
    for client in clients {
      #expect(try client.texts(in: room) == texts)
      // Everybody's own are in the order in which they were written.
      let own = texts.filter { $0.hasPrefix("\(client.member) ") }
      #expect(own == (1...5).map { "\(client.member) \($0)" })
    }
    try world.expectSameExport(clients[0], clients[4], clients[9])
  }
}
