import ChatClient
import Foundation
import MsgStore
import MsgStoreTools
import Synchronization
import Testing

/// A server, and the clients that talk to it: their stores are real files in a directory of the test.
final class World {
  let clock = TestClock()
  let server: PretendServer
  private let directory: URL

  init() throws {
    // Short: the name of a socket has at most about a hundred bytes.
    directory = URL(fileURLWithPath: "/tmp/msgstore-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    server = PretendServer(clock: { [clock] in clock.tick() })
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// A client of a member; its store has the member's name unless another is given, as that of a
  /// second device.
  func client(
    _ member: MemberID, store: String? = nil, clock: TestClock? = nil
  ) throws -> ChatClient {
    let clock = clock ?? self.clock
    return try ChatClient(
      path: path(store ?? "\(member)"), member: member, transport: LocalTransport(to: server),
      clock: { clock.now })
  }

  /// Has clients do their work until nothing is left to do, with time going by as it has to.
  func settle(_ clients: ChatClient...) async throws { try await settle(clients) }

  func settle(_ clients: [ChatClient]) async throws {
    var quietRounds = 0
    for _ in 0..<500 {
      var isQuiet = true
      for client in clients {
        if try await !client.sync() { isQuiet = false }
        if let next = try await client.store.read({ chat in try chat.outbox.nextTime }) {
          isQuiet = false
          clock.advance(to: next)
        }
      }
      quietRounds = isQuiet ? quietRounds + 1 : 0
      // What one has told in a quiet round may be news to another, who may have something to tell.
      if quietRounds == 3 { return }
    }
    Issue.record("the clients come to no end")
  }

  /// A direct conversation, known to both sides.
  func room(_ ann: ChatClient, _ bob: ChatClient) async throws -> ConversationID {
    let other = bob.member
    let local = try await ann.store.write { chat in
      try chat.findOrCreateConversation(with: [other]).id
    }
    try await settle(ann, bob)
    return try #require(
      try await ann.store.read { chat in try chat.conversation(local)?.id })
  }

  /// What the stores of two clients agree on; they are checked, and closed.
  func expectSameExport(
    _ clients: ChatClient..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var first: SharedExport?
    for client in clients {
      #expect(try client.store.check() == [], sourceLocation: sourceLocation)
      try client.store.close()
      let export = try export("\(client.member)")
      // Only where they differ: all of it would be pages.
      let changes = export.lines.difference(from: first?.lines ?? export.lines).map { "\($0)" }
      #expect(changes == [], sourceLocation: sourceLocation)
      first = first ?? export
    }
  }

  private func export(_ store: String) throws -> SharedExport {
    let tool = try Child("msgdump", ["export", path(store)], in: directory)
    #expect(tool.end() == 0)
    return try SharedExport(tool.output)
  }

  /// Starts a client without a user, in a process of its own.
  func startClient(_ member: MemberID, socket: String) throws -> Child {
    try Child(
      "chat-example", ["sync", path("\(member)"), "\(member)", path(socket)], in: directory)
  }

  /// Reads a store beside its owner, which is another process.
  func peek<R>(
    _ member: MemberID, _ body: (borrowing StoreSnapshot) throws -> R
  ) throws -> R {
    let store = try MessageStore(
      path: path("\(member)"), options: StoreOptions(access: .readOnly))
    defer { try? store.close() }
    return try store.read(body)
  }
}

/// A clock that goes when it is told to.
final class TestClock: Sendable {
  private let microseconds: Mutex<Int64>
  /// How far one reading by `tick` takes it on.
  private let step = Mutex<Int64>(1000)

  init(seconds: Int64 = 1_700_000_000) { microseconds = Mutex(seconds * 1_000_000) }

  var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }

  /// A later time than any before, unless it was stopped.
  func tick() -> Timestamp {
    let step = step.withLock { $0 }
    return Timestamp(
      microseconds: microseconds.withLock { microseconds in
        microseconds += step
        return microseconds
      })
  }

  func advance(seconds: Int64) { microseconds.withLock { $0 += seconds * 1_000_000 } }

  func advance(to time: Timestamp) {
    microseconds.withLock { $0 = max($0, time.microseconds) }
  }

  /// Has every reading give the same time from now on.
  func stop() { step.withLock { $0 = 0 } }
}

extension PretendServer {
  /// Says what goes wrong with the requests that are to change something, by their number from 1 on.
  func setFaultsByNumber(_ fault: @escaping @Sendable (Int) -> Fault?) {
    let count = Counter()
    setFault { request in request.token == nil ? nil : fault(count.next()) }
  }
}

/// Counts from 1 on.
final class Counter: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

extension ChatClient {
  /// The texts of a thread, oldest first.
  func texts(in room: ConversationID) throws -> [String] {
    try messages(in: room).map(\.text)
  }

  /// The newest messages of a thread, oldest first.
  func messages(in room: ConversationID) throws -> [Message] {
    try store.read { Array(try $0.thread(room).tail(200)) }
  }

  /// How many entries wait, in whatever state.
  var waitingCount: Int { get throws { try store.read { try $0.outbox.counts().total } } }
}

extension Request {
  var isSend: Bool { if case .send = call { true } else { false } }
  var isPiece: Bool { if case .uploadPiece = call { true } else { false } }
}
