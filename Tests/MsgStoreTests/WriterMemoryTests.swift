import MsgStore
import PageFile
import Testing

/// What a writer leaves to the next one is what the trees say, whatever happens between the two.
///
/// `check` compares both, so each of these tests ends with it.
struct WriterMemoryTests {
  private struct OwnError: Error {}

  private func write(_ ids: [MessageID], _ store: MessageStore, at time: Int64 = 1) throws
    -> [InsertOutcome]
  {
    try ids.map { id in try store.write { try $0.insert(message(id, at: time)) } }
  }

  @Test func namesAreFoundInWhateverOrderTheyCome() throws {
    let store = try memoryStore()
    let long = MessageID(String(repeating: "m", count: 40))
    let ids: [MessageID] = ["m5", "m7", "m6", long, "n", "a", "m55"]
    #expect(try write(ids, store).allSatisfy { $0 == .inserted })
    #expect(try write(ids, store).allSatisfy { $0 == .duplicate })
    try store.write { _ = try $0.delete("n", in: "room") }
    #expect(try write(["n"], store) == [.deleted])
    // What waits and another name that leads to it are greater than all that is there.
    try store.write { chat in
      _ = try chat.acknowledge(
        "x", in: "room", serverTimestamp: Timestamp(microseconds: 9), as: "z")
    }
    #expect(try write(["y", "z", "x"], store, at: 9) == [.inserted, .inserted, .duplicate])
    try store.expectSound()
  }

  @Test func aFailedWriteTakesItAlong() throws {
    let store = try memoryStore()
    _ = try write(["m1", "m2"], store)
    #expect(throws: OwnError.self) {
      try store.write { chat in
        try chat.insert(message("m3", at: 3))
        try chat.insert(Message(id: "p", in: "room", from: "bob", text: "pending"))
        throw OwnError()
      }
    }
    try store.expectSound()
    #expect(try write(["m3", "p"], store, at: 3) == [.inserted, .inserted])
    try store.read { (chat) throws in
      #expect(try chat.conversations(count: 1).first?.messageCount == 4)
    }
    try store.expectSound()
  }

  @Test func aResumedStoreBeginsAnew() throws {
    let store = try memoryStore()
    _ = try write(["m1"], store)
    try store.suspend()
    try store.resume()
    #expect(try write(["m1", "m0", "m2"], store) == [.duplicate, .inserted, .inserted])
    try store.expectSound()
  }

  @Test func aDeletedConversationIsForgotten() throws {
    let store = try memoryStore()
    _ = try write(["m1", "m2"], store)
    try store.write { _ = try $0.deleteConversation("room") }
    _ = try write(["m1", "m9"], store, at: 5)
    try store.expectSound()
  }

  @Test func manyConversationsAreNotKept() throws {
    let store = try memoryStore()
    for round in 0..<3 {
      for number in 0..<300 {
        try store.write(.relaxed) { chat in
          try chat.insert(
            Message(
              id: MessageID("m\(round)"), in: ConversationID("room \(number)"), from: "bob",
              text: String(repeating: "text ", count: number % 50),
              serverTimestamp: Timestamp(microseconds: Int64(round * 1000 + number))))
        }
      }
      try store.expectSound()
    }
    try store.read { (chat) throws in #expect(try chat.conversations(count: 400).count == 300) }
  }
}
