import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// No number that a public declaration takes traps or hangs, however small or large it is: it is
/// taken, clamped, or refused by a typed error, and what is stored afterwards is sound and can be
/// exported and restored.
@Suite(.timeLimit(.minutes(1))) struct EdgeTests {
  @Test func everyPublicNumberIsTried() throws {
    let declared = try PublicNumbers(targets: ["MsgStore", "MsgStoreTools", "PageFile"]).names
    let tried = Set(Edge.all.map(\.name))
    let known = tried.union(Edge.exceptions.keys)
    #expect(declared.subtracting(known).sorted() == [], "in no list: add it to Edge.all")
    #expect(known.subtracting(declared).sorted() == [], "not declared any more")
    #expect(tried.isDisjoint(with: Edge.exceptions.keys))
  }

  @Test(arguments: Edge.all) func numbersAtAndBeyondTheLimitsAreTakenOrRefused(
    _ edge: Edge
  ) async throws {
    for number in edge.numbers {
      let clock = TestClock(1_000_000_000)
      let store = try Self.filled(clock)
      do {
        switch edge.call {
        case .synchronous(let call): try call(store, number)
        case .asynchronous(let call): try await call(store, number)
        }
      } catch is StoreError, is PageFileError, is StoreToolError {
        // A typed refusal.
      }
      clock.set(2_000_000_000)
      try Self.expectSound(store, edge, number)
    }
  }

  private static func expectSound(_ store: MessageStore, _ edge: Edge, _ number: Int) throws {
    try store.write { try $0.insert(chatMessage("after", in: "room", at: 9)) }
    try store.finishWork()
    try store.expectSound()
    #expect(throws: Never.self, "\(edge.name), \(number)") {
      try MessageStore.restored(from: store.lines()).expectSound()
    }
  }

  /// A store with something of all that the edges are about.
  private static func filled(_ clock: TestClock) throws -> MessageStore {
    let store = try clock.store { options in
      options.createsConversationsOnSend = true
      options.worksInBackground = false
    }
    try store.write { chat throws in
      _ = try chat.putConversation("room", participants: ["me", "ann", "bob"])
      _ = try chat.putConversation("archive", participants: ["me", "ann"])
      _ = try chat.setArchived(true, of: "archive")
      for index in 0..<6 {
        var message = Message(
          id: MessageID("m\(index)"), in: "room", from: index == 2 ? "me" : "ann",
          text: "word \(index) https://example.org", serverTimestamp: time(Int64(index)),
          sequence: Int64(index < 3 ? index : index + 10), replyTo: index > 3 ? "m0" : nil)
        if index == 1 {
          message.attachments = [
            MessageAttachment(id: "f", kind: .image, localPath: "/tmp/f", byteCount: 10)
          ]
        }
        try chat.insert(message)
      }
      _ = try chat.setTag(.starred, of: "m1", in: "room")
      _ = try chat.setTag(.starred, of: "m3", in: "room")
      _ = try chat.send(own("mine", in: "room"))
      _ = try chat.send(own("later", in: "room"))
    }
    return store
  }
}

/// A public declaration that takes a number.
struct Edge: Sendable, CustomTestStringConvertible {
  let name: String
  let numbers: [Int]
  let call: Call

  enum Call: Sendable {
    case synchronous(@Sendable (MessageStore, Int) throws -> Void)
    case asynchronous(@Sendable (MessageStore, Int) async throws -> Void)
  }

  var testDescription: String { name }

  private init(_ name: String, limit: Int?, _ call: Call) {
    self.name = name
    let limits = limit.map { [$0 - 1, $0, $0 + 1] } ?? []
    numbers = [.min, .min + 1, -1, 0, 1] + limits + [.max - 1, .max]
    self.call = call
  }

  static func reading(
    _ name: String, limit: Int? = nil,
    _ body: @escaping @Sendable (borrowing StoreSnapshot, Int) throws -> Void
  ) -> Edge {
    calling(name, limit: limit) { store, number in try store.read { try body($0, number) } }
  }

  static func writing(
    _ name: String, limit: Int? = nil,
    _ body: @escaping @Sendable (borrowing StoreWriter, Int) throws -> Void
  ) -> Edge {
    calling(name, limit: limit) { store, number in try store.write { try body($0, number) } }
  }

  static func calling(
    _ name: String, limit: Int? = nil,
    _ body: @escaping @Sendable (MessageStore, Int) throws -> Void
  ) -> Edge {
    Edge(name, limit: limit, .synchronous(body))
  }

  static func awaiting(
    _ name: String, _ body: @escaping @Sendable (MessageStore, Int) async throws -> Void
  ) -> Edge {
    Edge(name, limit: nil, .asynchronous(body))
  }

  /// A value that only keeps its numbers, and what is done with the value.
  static func making(_ name: String, _ body: @escaping @Sendable (Int) throws -> Void) -> Edge {
    calling(name) { _, number in try body(number) }
  }

  /// The last plausible microsecond.
  static let lastTime = Int(Timestamp.plausibleRange.upperBound.microseconds)

  static let all: [Edge] = [
    readingEdges, liveEdges, outboxEdges, receivedEdges, composedEdges, valuesEdges, optionsEdges,
  ].flatMap { $0 }

  /// Declarations whose numbers a caller must not get wrong, with the reason.
  static let exceptions = [
    "ConversationSlice.subscript(index:)": "an index, as of an array",
    "MessageSlice.subscript(index:)": "an index, as of an array",
    "SearchSlice.subscript(index:)": "an index, as of an array",
    "TaggedSlice.subscript(index:)": "an index, as of an array",
    "Bytes.subscript(offset:)": "an index, as of an array",
    "MutableBytes.subscript(offset:)": "an index, as of an array",
    "ByteBuffer.init(capacity:)": "a capacity, as of an array",
    "ByteBuffer.reserve(_:)": "a capacity, as of an array",
  ]
}
