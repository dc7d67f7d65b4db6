import MsgStore
import Synchronization
import Testing

@testable import ChatClient

/// Gaps in a conversation: filled by honest answers, kept by all others.
struct GapTests {
  private let world: World
  private let ann: ChatClient
  private let bob: ChatClient

  init() throws {
    world = try World()
    ann = try world.client("ann")
    bob = try world.client("bob")
  }

  /// Covers gaps of one message, of a whole piece, of one more, and of several pieces.
  @Test(arguments: [2, 21, 22, 45])
  func aGapIsFilledThroughALinkThatBreaks(_ count: Int) async throws {
    let room = try await world.room(ann, bob)
    let texts = try await sayUnheard(count, in: room)
    let counter = Counter()
    world.server.setFault { request in
      guard request.historyRoom != nil else { return nil }
      return counter.next() % 2 == 0 ? .loseAnswer : nil
    }
    try await world.settle(ann, bob)
    #expect(try bob.texts(in: room) == texts)
    #expect(try gaps(of: bob, in: room) == [])
    try world.expectSameExport(ann, bob)
  }

  @Test func aGapStaysWhileTheServerRefusesToFillIt() async throws {
    let room = try await world.room(ann, bob)
    let texts = try await sayUnheard(3, in: room)
    world.server.setFault { $0.historyRoom == nil ? nil : .refuse(.permission) }
    #expect(try await bob.sync())
    #expect(try bob.texts(in: room) == [texts[2]])
    #expect(try gaps(of: bob, in: room) == [1...2])
    world.server.setFault { _ in nil }
    #expect(try await bob.sync())
    #expect(try bob.texts(in: room) == texts)
  }

  /// Ann's message comes to the server between Bob's look at the news and his own message, of which
  /// the server tells alone.
  @Test(arguments: [false, true]) func aMessageThatFillsAGapIsUnreadAndItsSenderHearsThatItIsRead(
    _ isMarkedBefore: Bool
  ) async throws {
    let room = try await world.room(ann, bob)
    world.server.setToldCount(1)
    let crossing = WireMessage(try ann.say("first", in: room).value)
    try bob.say("second", in: room)
    world.server.setFault { [server = world.server] request in
      if case .history = request.call { return isMarkedBefore ? .refuse(.permission) : nil }
      guard case .send = request.call, request.member == "bob" else { return nil }
      _ = try? server.answer(Request(from: "ann", .send(crossing)))
      return nil
    }
    #expect(try await bob.sync())
    if isMarkedBefore {
      #expect(try bob.texts(in: room) == ["second"])
      try await markRead(by: bob, in: room)
    }
    world.server.setFault { _ in nil }
    #expect(try await bob.sync())
    #expect(try bob.texts(in: room) == ["first", "second"])
    #expect(try await bob.store.read { try $0.conversation(room)?.unreadCount } == 1)
    try await world.settle(ann, bob)
    #expect(try status(of: crossing.id, at: ann, in: room) == .delivered)
    try await markRead(by: bob, in: room)
    try await world.settle(ann, bob)
    #expect(try status(of: crossing.id, at: ann, in: room) == .read)
  }

  /// The faults of an answer that no correct server gives.
  enum BadHistory: CaseIterable {
    case belowTheGap, aboveTheGap, fromElsewhere, twice, disordered, tooMany, withoutNumber
    case withoutTime, ofAnotherKind
  }

  @Test(arguments: BadHistory.allCases)
  func aBadAnswerIsRefusedAndTheGapStays(_ fault: BadHistory) async throws {
    let room = try await world.room(ann, bob)
    let local = try await ann.store.write { chat in
      try chat.createGroup(participants: ["bob"], title: "elsewhere").id
    }
    for number in 1...3 { try ann.say("elsewhere \(number)", in: local) }
    try await world.settle(ann, bob)
    let elsewhere = try #require(
      try await ann.store.read { chat in try chat.conversation(local)?.id })
    let texts = try await sayUnheard(45, in: room)
    try await bob.store.close()
    let link = BadLink(
      link: LocalTransport(to: world.server), fault: fault, elsewhere: elsewhere)
    let deceived = try ChatClient(
      path: world.path("bob"), member: "bob", transport: link,
      clock: { [clock = world.clock] in clock.now })
    // The second time the gap is asked for again.
    for _ in 1...2 {
      await #expect(throws: BadAnswer.self) { try await deceived.sync() }
      #expect(try deceived.texts(in: room) == [texts[44]])
      #expect(try gaps(of: deceived, in: room) == [1...44])
      #expect(try deceived.texts(in: elsewhere).count == 3)
    }
    try await deceived.store.close()

    let again = try world.client("bob")
    try await world.settle(ann, again)
    #expect(try again.texts(in: room) == texts)
    #expect(try gaps(of: again, in: room) == [])
    try world.expectSameExport(ann, again)
  }

  @Test func aGapOfAConversationBeyondTheFirstHundredIsFilled() async throws {
    let local = try await ann.store.write { chat in
      try (0...100).map { try chat.createGroup(participants: ["bob"], title: "group \($0)").id }
    }
    try await world.settle(ann, bob)
    let rooms = try await ann.store.read { chat in
      try local.compactMap { try chat.conversation($0)?.id }
    }
    let texts = try await sayUnheard(3, in: rooms[0])
    // Each of the others is newer, and has no gap.
    for room in rooms.dropFirst() { try ann.say("later", in: room) }
    try await world.settle(ann)
    let asked = Mutex<[ConversationID]>([])
    world.server.setFault { request in
      if let room = request.historyRoom { asked.withLock { $0.append(room) } }
      return nil
    }
    #expect(try await bob.sync())
    #expect(asked.withLock { $0 } == [rooms[0]])
    #expect(try bob.texts(in: rooms[0]) == texts)
    #expect(try gaps(of: bob, in: rooms[0]) == [])
    let newest = try await bob.store.read { chat in try chat.conversations(count: 100).map(\.id) }
    #expect(newest.count == 100 && !newest.contains(rooms[0]))
  }

  /// Lets Ann say some texts, of which Bob will be told the last one only.
  private func sayUnheard(_ count: Int, in room: ConversationID) async throws -> [String] {
    let texts = (1...count).map { "message \($0)" }
    for text in texts { try ann.say(text, in: room) }
    try await world.settle(ann)
    world.server.setToldCount(1)
    return texts
  }

  private func markRead(by client: ChatClient, in room: ConversationID) async throws {
    try await client.store.write { chat in _ = try chat.markRead(room) }
  }

  private func status(
    of id: MessageID, at client: ChatClient, in room: ConversationID
  ) throws -> MessageStatus? {
    try client.store.read { try $0.message(id, in: room)?.status }
  }

  private func gaps(
    of client: ChatClient, in room: ConversationID
  ) throws -> [ClosedRange<Int64>] {
    try client.store.read { try $0.gaps(in: room) }
  }
}

/// A link whose answers about the past are all bad in one way.
private struct BadLink: Transport {
  let link: LocalTransport
  let fault: GapTests.BadHistory
  /// Another conversation of the member.
  let elsewhere: ConversationID

  func ask(_ request: Request) async throws(LinkError) -> Answer {
    guard case .history(let room, let first, let last, let count) = request.call else {
      return try await link.ask(request)
    }
    var changed = request
    changed.call = .history(
      fault == .fromElsewhere ? elsewhere : room, from: first, upTo: last,
      count: fault == .tooMany ? count + 1 : count)
    let answer = try await link.ask(changed)
    guard case .history(var messages) = answer, messages.count > 1 else { return answer }
    switch fault {
    case .belowTheGap: messages[0].sequence = first - 1
    case .aboveTheGap: messages[messages.count - 1].sequence = last + 1
    case .fromElsewhere, .tooMany: break
    case .twice: messages[1].sequence = messages[0].sequence
    case .disordered: messages.reverse()
    case .withoutNumber: messages[0].sequence = nil
    case .withoutTime: messages[0].time = nil
    case .ofAnotherKind: return .received(byteCount: messages.count)
    }
    return .history(messages)
  }
}

extension Request {
  fileprivate var historyRoom: ConversationID? {
    guard case .history(let room, _, _, _) = call else { return nil }
    return room
  }
}
