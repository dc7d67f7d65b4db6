import MsgStore
import PageFile
import Testing

/// How often an operation goes from the root of a tree to a leaf, by tree.
///
/// The outbox is in use, nobody listens, and the writer remembers the conversation. No row may
/// rise.
@Suite(.enabled(if: _isDebugAssertConfiguration(), "walks are counted in debug builds only"))
struct WalkTests {
  private static let room: ConversationID = "room"
  private static let packed = MessageID("m20")
  private static let loose = MessageID("m198")

  /// A group with packed and loose messages beside 24 others, and work in the outbox.
  private func makeStore(
    in directory: MemoryDirectory = MemoryDirectory()
  ) throws -> MessageStore {
    let store = try MessageStore(in: directory, name: "store", options: countedOptions())
    for other in 0..<24 {
      try store.write { chat in
        for index in 0..<4 {
          try chat.insert(
            chatMessage(
              MessageID("x\(index)"), in: ConversationID("other\(other)"),
              at: 1_000 + Int64(other * 10 + index)))
        }
      }
    }
    try store.write { chat in
      try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<96 {
        let other = ConversationID("other\(index % 24)")
        try chat.send(own(MessageID("held\(index)"), in: other, "text"))
      }
      try chat.outbox.setHoldsNewEntries(false)
    }
    for start in stride(from: 0, to: 200, by: 20) {
      try store.write { chat in
        for index in start..<start + 20 {
          try chat.insert(
            chatMessage(MessageID("m\(index)"), in: Self.room, at: 10_000 + Int64(index)))
        }
      }
    }
    // The writer knows the conversation.
    try receive("n1", at: 20_000, in: store)
    return store
  }

  private func receive(_ id: MessageID, at time: Int64, in store: MessageStore) throws {
    try store.write { try $0.insert(chatMessage(id, in: Self.room, at: time)) }
  }

  /// Expects an operation to make no more walks than these, and prints which it makes.
  private func expect(
    _ name: String, read: Int, write: Int, _ location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) throws {
    let counter = WalkCounter()
    try WalkCounter.current.withValue(counter) { try body() }
    let counts = counter.counts
    let (made, changed) = (counts.read.values.reduce(0, +), counts.write.values.reduce(0, +))
    let words =
      "\(name): \(made) + \(changed), read \(list(counts.read)), write \(list(counts.write))"
    print(words)
    #expect(made <= read && changed <= write, "\(words)", sourceLocation: location)
  }

  private func list(_ counts: [TreeNumber: Int]) -> String {
    counts.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\(Schema.name(of: $0.key)) \($0.value)" }.joined(separator: ", ")
  }

  @Test func walksOfReading() throws {
    let store = try makeStore()
    // The name of the sender is known to readers then.
    _ = try store.read { try $0.message(Self.loose, in: Self.room) }
    try expect("by id", read: 3, write: 0) {
      _ = try store.read { try $0.message(Self.packed, in: Self.room) }
    }
    try expect("newest 50", read: 2, write: 0) {
      _ = try store.read { try $0.thread(Self.room).tail(50) }
    }
    try expect("list of 20", read: 21, write: 0) {
      _ = try store.read { try $0.conversations(count: 20) }
    }
  }

  @Test func walksOfReceiving() throws {
    let store = try makeStore()
    try expect("receive a message", read: 0, write: 4) {
      try receive("n2", at: 20_001, in: store)
    }
    try expect("receive a message with any name", read: 1, write: 3) {
      try receive("a", at: 20_002, in: store)
    }
    try expect("receive an edit, loose", read: 2, write: 0) {
      _ = try store.write {
        try $0.receiveEdit(of: Self.loose, in: Self.room, text: "x", at: time(9))
      }
    }
    try expect("receive an edit, packed", read: 3, write: 1) {
      _ = try store.write {
        try $0.receiveEdit(of: Self.packed, in: Self.room, text: "x", at: time(9))
      }
    }
    try expect("receive a reaction, loose", read: 4, write: 1) {
      let reaction = Reaction("👍", from: "bob", at: time(9))
      _ = try store.write { try $0.receive(reaction, to: Self.loose, in: Self.room) }
    }
    try expect("receive a reaction, packed", read: 5, write: 0) {
      let reaction = Reaction("👍", from: "bob", at: time(9))
      _ = try store.write { try $0.receive(reaction, to: Self.packed, in: Self.room) }
    }
    try expect("receive a receipt", read: 3, write: 0) {
      let receipt = ReceivedReceipt(in: Self.room, of: "ann", .read, .upTo(Self.loose))
      _ = try store.write { try $0.receive(receipt) }
    }
  }

  @Test func walksOfMarking() throws {
    let store = try makeStore()
    try expect("mark as read, first", read: 5, write: 4) {
      _ = try store.write { try $0.markRead(Self.room, upTo: Self.loose) }
    }
    try expect("mark as read, again", read: 0, write: 1) {
      _ = try store.write { try $0.markRead(Self.room) }
    }
  }

  @Test func walksOfSending() throws {
    let store = try makeStore()
    try expect("send", read: 3, write: 6) {
      _ = try store.write { try $0.send(own("mine", in: Self.room, "text")) }
    }
    var item: OutboxItem?
    try expect("next", read: 5, write: 3) { item = try store.next() }
    let sent = try #require(item)
    try expect("complete", read: 4, write: 4) { try store.done(sent) }
    try expect("acknowledge", read: 5, write: 3) {
      try store.write {
        _ = try $0.acknowledge("mine", in: Self.room, serverTimestamp: time(30_000))
      }
    }
    try expect("edit one's own", read: 2, write: 5) {
      try store.write { _ = try $0.edit("mine", in: Self.room, text: "changed") }
    }
  }

  /// Each operation is the first of a store that was opened for it.
  @Test func walksWithEverythingCold() throws {
    let directory = MemoryDirectory()
    try makeStore(in: directory).close()
    func expectCold(
      _ name: String, read: Int, write: Int, _ location: SourceLocation = #_sourceLocation,
      _ body: (MessageStore) throws -> Void
    ) throws {
      let store = try MessageStore(
        in: directory.copy(), name: "store", options: countedOptions())
      try expect("cold: \(name)", read: read, write: write, location) { try body(store) }
      try store.close()
    }
    try expectCold("by id", read: 4, write: 0) { store in
      _ = try store.read { try $0.message(Self.packed, in: Self.room) }
    }
    try expectCold("newest 50", read: 3, write: 0) { store in
      _ = try store.read { try $0.thread(Self.room).tail(50) }
    }
    try expectCold("list of 20", read: 21, write: 0) { store in
      _ = try store.read { try $0.conversations(count: 20) }
    }
    try expectCold("receive a message", read: 3, write: 2) { store in
      try receive("n2", at: 20_001, in: store)
    }
    try expectCold("receive an edit, packed", read: 5, write: 0) { store in
      _ = try store.write {
        try $0.receiveEdit(of: Self.packed, in: Self.room, text: "x", at: time(9))
      }
    }
    try expectCold("mark as read, first", read: 6, write: 4) { store in
      _ = try store.write { try $0.markRead(Self.room, upTo: Self.loose) }
    }
    try expectCold("send", read: 4, write: 6) { store in
      _ = try store.write { try $0.send(own("mine", in: Self.room, "text")) }
    }
  }
}
