import ChatClient
import Foundation
import MsgStore
import MsgStoreTools
import Synchronization
import Testing

/// What people do, with the processes that do the work killed in the middle of it, again and again.
struct KilledScenarioTests {
  private let world: World
  private let socket: SocketServer

  init() throws {
    world = try World()
    socket = try SocketServer(world.server, path: world.path("socket"))
  }

  /// Has a member's client work in a process that is killed with each of these requests, counted from
  /// 1 on, before the server has it or when it has, in turns; then in one that is left alone until
  /// nothing waits and something else holds.
  private func work(
    _ member: MemberID, killedAt numbers: [Int],
    until holds: (borrowing StoreSnapshot) throws -> Bool = { _ in true },
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let victim = Mutex<Child?>(nil)
    let counter = Counter()
    world.server.setFault { request in
      guard request.member == member, let index = numbers.firstIndex(of: counter.next()) else {
        return nil
      }
      victim.withLock { $0?.kill() }
      return index % 2 == 0 ? .loseAnswer : .loseRequest
    }
    for _ in numbers {
      // Under the lock, as the first request may come at once.
      try victim.withLock { $0 = try world.startClient(member, socket: "socket") }
      let process = try #require(victim.withLock { $0 }, sourceLocation: sourceLocation)
      #expect(process.end() == SIGKILL, sourceLocation: sourceLocation)
    }
    let last = try world.startClient(member, socket: "socket")
    try await wait(sourceLocation: sourceLocation) {
      try world.peek(member) { chat in try chat.outbox.counts().total == 0 && holds(chat) }
    }
    last.kill()
    last.end()
    world.server.setFault { _ in nil }
  }

  /// Two people in a room, of whom Ann does something offline, with her store closed after that.
  private func offline(
    before: [String] = [],
    _ body: (ChatClient, ConversationID, [MessageID]) async throws -> Void
  ) async throws -> (bob: ChatClient, room: ConversationID) {
    let (ann, bob) = (try world.client("ann"), try world.client("bob"))
    let room = try await world.room(ann, bob)
    let ids = try before.map { try ann.say($0, in: room).value.id }
    try await world.settle(ann, bob)
    try await body(ann, room, ids)
    try await ann.store.close()
    return (bob, room)
  }

  /// Everybody has these texts, and both sides the same export.
  private func expect(
    _ texts: [String], in room: ConversationID, of bob: ChatClient
  ) async throws {
    let ann = try world.client("ann")
    try await world.settle(ann, bob)
    #expect(world.server.messages(in: room).map(\.text) == texts)
    for client in [ann, bob] {
      #expect(try client.texts(in: room) == texts)
      #expect(try client.waitingCount == 0)
    }
    try world.expectSameExport(ann, bob)
  }

  /// Scenario 1: each kill is a link that breaks.
  @Test func fiftyMessagesThroughFiveKillsAreAllThereOnce() async throws {
    let texts = (1...50).map { "message \($0)" }
    let (bob, room) = try await offline { ann, room, _ in
      for text in texts { try ann.say(text, in: room) }
    }
    try await work("ann", killedAt: [3, 11, 12, 26, 44])
    try await expect(texts, in: room, of: bob)
  }

  /// Scenario 3.
  @Test func editsAndTakingBackThroughKillsEndTheSameEverywhere() async throws {
    let (bob, room) = try await offline(before: ["before", "secret"]) { ann, room, ids in
      try await ann.store.write { chat in
        for number in 1...3 { _ = try chat.edit(ids[1], in: room, text: "secret \(number)") }
        _ = try chat.retract(ids[1], in: room)
      }
    }
    try await work("ann", killedAt: [1, 2, 4])
    try await expect(["before", ""], in: room, of: bob)
  }

  /// Scenario 4.
  @Test func tenSendersWhoAreAllKilledAreAllThereInTheServersOrder() async throws {
    let members = (0..<10).map { MemberID("member-\($0)") }
    let clients = try members.map { try world.client($0) }
    let local = try await clients[0].store.write { chat in
      try chat.createGroup(participants: members, title: "all").id
    }
    try await world.settle(clients)
    let room = try #require(
      try await clients[0].store.read { chat in try chat.conversation(local)?.id })
    for client in clients {
      for number in 1...3 { try client.say("\(client.member) \(number)", in: room) }
      try await client.store.close()
    }
    let victims = Mutex<[MemberID: Child]>([:])
    world.server.setFault { request in
      guard request.isSend,
        let victim = victims.withLock({ $0.removeValue(forKey: request.member) })
      else { return nil }
      victim.kill()
      return request.member.string.utf8.last.map { $0 % 2 } == 0 ? .loseAnswer : .loseRequest
    }
    var processes: [Child] = []
    try victims.withLock { victims in
      for member in members {
        let process = try world.startClient(member, socket: "socket")
        victims[member] = process
        processes.append(process)
      }
    }
    for process in processes { #expect(process.end() == SIGKILL) }
    world.server.setFault { _ in nil }

    let again = try members.map { try world.client($0) }
    try await world.settle(again)
    let taken = world.server.messages(in: room)
    #expect(taken.map(\.sequence) == (1...30).map { $0 })
    let texts = taken.map(\.text)
    for client in again {
      #expect(try client.texts(in: room) == texts)
      let own = texts.filter { $0.hasPrefix("\(client.member) ") }
      #expect(own == (1...3).map { "\(client.member) \($0)" })
    }
    try world.expectSameExport(again[0], again[4], again[9])
  }

  /// Scenario 5.
  @Test func twentyThatWereReviewedAreSentInOrderThroughKills() async throws {
    let texts = (1...20).map { "message \($0)" }
    let (bob, room) = try await offline { ann, room, _ in
      try await ann.store.write { chat in _ = try chat.outbox.setHoldsNewEntries(true) }
      for text in texts { try ann.say(text, in: room) }
      try await ann.sync()
      #expect(try await ann.store.read { chat in try chat.outbox.counts().held } == 20)
      #expect(world.server.messages(in: room).isEmpty)
      try await ann.store.write { chat in
        _ = try chat.outbox.setHoldsNewEntries(false)
        _ = try chat.outbox.releaseAll(in: room)
      }
    }
    try await work("ann", killedAt: [2, 9, 17])
    try await expect(texts, in: room, of: bob)
  }

  /// Scenario 6: the one who sends and the one who receives are killed.
  @Test func aBurstWithOneTimestampKeepsItsOrderThroughKills() async throws {
    let texts = (1...100).map { "message \($0)" }
    let (bob, room) = try await offline { ann, room, _ in
      for text in texts { try ann.say(text, in: room) }
    }
    world.clock.stop()
    try await bob.store.close()
    try await work("ann", killedAt: [5, 40, 90])
    #expect(Set(world.server.messages(in: room).map(\.time)).count == 1)
    try await work("bob", killedAt: [1, 2, 3]) { chat in
      try chat.unreadTotals.messages == 100
    }
    try await expect(texts, in: room, of: try world.client("bob"))
  }

  /// Scenario 9.
  @Test func ofTwoEditsTheLastWinsThroughKills() async throws {
    let (bob, room) = try await offline(before: ["one"]) { ann, room, ids in
      try await ann.store.write { chat in _ = try chat.edit(ids[0], in: room, text: "two") }
      try await ann.store.write { chat in _ = try chat.edit(ids[0], in: room, text: "three") }
    }
    try await work("ann", killedAt: [1, 2, 3])
    try await expect(["three"], in: room, of: bob)
  }

  /// Scenario 10.
  @Test func conversationsDeletedElsewhereGoThroughKills() async throws {
    let (bob, ann) = (try world.client("bob"), try world.client("ann"))
    let tablet = try world.client("ann", store: "tablet")
    let local = try await bob.store.write { chat in
      try (0..<6).map { try chat.createGroup(participants: ["ann"], title: "group \($0)").id }
    }
    for room in local { try bob.say("hello", in: room) }
    try await world.settle(bob, ann, tablet)
    let rooms = try await bob.store.read { chat in
      try local.compactMap { try chat.conversation($0)?.id }
    }
    try await ann.store.close()
    for room in rooms[..<5] {
      try await tablet.store.write { chat in _ = try chat.deleteConversation(room) }
    }
    try await world.settle(tablet)
    try await work("ann", killedAt: [1, 2, 3]) { chat in
      try chat.conversations(count: 20).map(\.id) == [rooms[5]]
    }
    let again = try world.client("ann")
    try await world.settle(again, tablet, bob)
    for client in [again, tablet] {
      let list = try await client.store.read { chat in try chat.conversations(count: 20).map(\.id) }
      #expect(list == [rooms[5]])
      #expect(try await client.store.check() == [])
    }
    #expect(try await bob.store.read { chat in try chat.conversations(count: 20).count } == 6)
  }
}
