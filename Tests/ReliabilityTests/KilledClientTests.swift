import ChatClient
import Foundation
import MsgStore
import Synchronization
import Testing

/// Clients in processes of their own that are killed and frozen, with a server that goes on.
struct KilledClientTests {
  private let world: World
  private let socket: SocketServer

  init() throws {
    world = try World()
    socket = try SocketServer(world.server, path: world.path("socket"))
  }

  /// What a kill falls on.
  enum Moment: Sendable, CaseIterable {
    case beforeTheServerHasIt, whenTheServerHasIt
  }

  /// Scenario 2.
  @Test(arguments: Moment.allCases)
  func aSendThatIsKilledInTheMiddleIsCompletedAfterARestart(_ moment: Moment) async throws {
    let bob = try world.client("bob")
    let ann = try world.client("ann")
    let room = try await world.room(ann, bob)
    let message = try ann.say("will this arrive?", in: room).value.id
    try ann.say("and this?", in: room)
    try await ann.store.close()

    let victim = Mutex<Child?>(nil)
    let tokens = Mutex<[String]>([])
    world.server.setFault { request in
      guard request.isSend, let token = request.token else { return nil }
      let attempt = tokens.withLock {
        $0.append(token)
        return $0.count
      }
      guard attempt == 1 else { return nil }
      // The process waits for the answer now. It gets none.
      victim.withLock { $0?.kill() }
      return moment == .beforeTheServerHasIt ? .loseRequest : .loseAnswer
    }
    // Under the lock, as the first request may come at once.
    try victim.withLock { $0 = try world.startClient("ann", socket: "socket") }
    // Not under it: whoever kills it needs it.
    let process = try #require(victim.withLock { $0 })
    #expect(process.end() == SIGKILL)
    #expect(try world.peek("ann") { try $0.outbox.counts().running } == 1)
    #expect(try world.peek("ann") { try $0.message(message, in: room)?.status } == .sending)

    let next = try world.startClient("ann", socket: "socket")
    try await wait {
      try world.server.messages(in: room).count == 2
        && world.peek("ann") { try $0.outbox.counts().total == 0 }
    }
    next.kill()
    next.end()
    let expected = ["will this arrive?", "and this?"]
    #expect(world.server.messages(in: room).map(\.text) == expected)
    // Told again under the same token; or not told again, as the server's news said that it has it.
    let told = tokens.withLock { $0 }
    switch moment {
    case .beforeTheServerHasIt: #expect(told.count == 3 && told[0] == told[1])
    case .whenTheServerHasIt: #expect(told.count == 2 && told[0] != told[1])
    }
    let again = try world.client("ann")
    try await world.settle(again, bob)
    #expect(try again.texts(in: room) == expected)
    #expect(try again.messages(in: room).allSatisfy { $0.status == .delivered })
    try world.expectSameExport(again, bob)
  }

  /// Scenario 7, with a process that is really stopped.
  @Test func aProcessThatWasStoppedReceivesFiftyAtOnce() async throws {
    let ann = try world.client("ann")
    let bob = try world.client("bob")
    let room = try await world.room(ann, bob)
    try bob.say("I am there", in: room)
    try await bob.store.close()
    let process = try world.startClient("bob", socket: "socket")
    try await wait { world.server.messages(in: room).count == 1 }

    process.freeze(true)
    let expected = (1...50).map { "message \($0)" }
    for text in expected { try ann.say(text, in: room) }
    try await world.settle(ann)
    let last = try #require(try ann.messages(in: room).last)
    #expect(last.status == .sent)
    process.freeze(false)
    // He hears of all of them, and she that he has.
    try await wait {
      try world.peek("bob") { chat in
        try chat.unreadTotals.messages == 50 && chat.outbox.counts().total == 0
      }
    }
    process.kill()
    process.end()

    let again = try world.client("bob")
    #expect(try await again.store.read { chat in try chat.conversation(room)?.unreadCount } == 50)
    #expect(try again.texts(in: room) == ["I am there"] + expected)
    try await world.settle(ann, again)
    #expect(try ann.messages(in: room).last?.status == .delivered)
    try world.expectSameExport(ann, again)
  }

  /// Scenario 8.
  @Test func tenMegabytesComeThroughDropsAndKillsAndTheMessageFollows() async throws {
    let byteCount = 10 << 20
    let file = world.path("film")
    var content = Data(count: byteCount)
    // Each part is another one.
    for offset in stride(from: 0, to: byteCount, by: 1000) {
      content[offset] = UInt8(truncatingIfNeeded: offset / 1000 * 7)
    }
    try content.write(to: URL(fileURLWithPath: file))

    let bob = try world.client("bob")
    let ann = try world.client("ann")
    let room = try await world.room(ann, bob)
    var film = MessageAttachment(id: "film", kind: .video)
    film.localPath = file
    film.byteCount = Int64(byteCount)
    let message = try ann.say("look!", in: room, attachments: [film]).value.id
    try await ann.store.close()

    // A process is killed twice, with a piece on its way and with one that has just arrived; the link
    // breaks twice in each life.
    let victim = Mutex<Child?>(nil)
    let pieces = Mutex(0)
    let sends = Mutex(0)
    let watched = Mutex<MessageStore?>(nil)
    let progress = Mutex<[Int64]>([])
    world.server.setFault { request in
      let number = pieces.withLock { count in
        if request.isPiece { count += 1 }
        return count
      }
      if request.isSend { sends.withLock { $0 += 1 } }
      guard request.isPiece else { return nil }
      let states = try? watched.withLock { store in
        try store?.read { try $0.attachments(of: message, in: room) }
      }
      if case .running(let count)? = states?.first?.upload {
        progress.withLock { $0.append(count) }
      }
      switch number {
      case 4, 11, 27, 38: return .loseRequest
      case 7, 19, 30, 44: return .loseAnswer
      case 13, 25:
        victim.withLock { $0?.kill() }
        return number == 13 ? .loseRequest : .loseAnswer
      default: return nil
      }
    }
    for _ in 1...2 {
      try victim.withLock { $0 = try world.startClient("ann", socket: "socket") }
      let process = try #require(victim.withLock { $0 })
      #expect(process.end() == SIGKILL)
      // Nobody moves bytes now. What is stored of the progress is what came with the last commits.
      let states = try world.peek("ann") { try $0.attachments(of: message, in: room) }
      #expect(states.first?.upload == .queued)
    }
    #expect(world.server.files.isEmpty)

    // The third life is in this process, so that its progress can be seen.
    let again = try world.client("ann")
    watched.withLock { $0 = again.store }
    try await world.settle(again, bob)
    watched.withLock { $0 = nil }
    let counts = progress.withLock { $0 }
    #expect(counts.first ?? 0 > 0 && counts == counts.sorted() && Set(counts).count > 10)

    // The file is there once, and then its message came.
    #expect(world.server.files.map(\.value) == [content])
    #expect(sends.withLock { $0 } == 1)
    for client in [again, bob] {
      let received = try client.messages(in: room).first
      #expect(received?.serverTimestamp != nil)
      #expect(received?.attachments.first?.remoteURL == world.server.files.first?.key)
    }
    let states = try await again.store.read { chat in
      try chat.attachments(of: message, in: room)
    }
    #expect(states.first?.upload == .done)
    try world.expectSameExport(again, bob)
  }
}
