import MsgStore
import Testing

/// A write that changes nothing commits nothing.
struct UnchangedTests {
  private func store() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("club", participants: ["me", "ann"], title: "Books")
      for sequence: Int64 in 1...5 {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      try chat.insert(message("mine", at: nil, from: "me", local: 9))
      try chat.declareAbsent(20...30, in: "room")
      try chat.setSyncPosition([1, 2], for: "s")
      try chat.setSyncPosition([3], for: "s", in: "room")
      try chat.markRead("room")
    }
    return store
  }

  @Test func whatIsThereAlreadyCommitsNothing() throws {
    let store = try store()
    let before = store.statistics
    func expectNothing(_ name: Comment, _ body: (borrowing StoreWriter) throws -> Void) throws {
      try store.write(.full, body)
      #expect(store.statistics.lastCommit == before.lastCommit, name)
      #expect(store.statistics.walByteCount == before.walByteCount, name)
    }
    try expectNothing("nothing at all") { _ in }
    try expectNothing("reading") { _ = try $0.thread("room").tail(3) }
    try expectNothing("a message again") { chat in
      for sequence: Int64 in 1...5 {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      try chat.insert(message("mine", at: nil, from: "me", local: 9))
    }
    try expectNothing("an acknowledgement again") {
      try $0.acknowledge("m3", in: "room", serverTimestamp: time(3), sequence: 3)
    }
    try expectNothing("a status again") { try $0.setStatus(.sent, of: "m3", in: "room") }
    try expectNothing("a deletion of nothing") { try $0.delete("none", in: "room") }
    try expectNothing("a mark again") { try $0.markRead("room") }
    try expectNothing("a conversation again") {
      try $0.putConversation("club", participants: ["me", "ann"], title: "Books")
      _ = try $0.findOrCreateConversation(with: ["ann"])
    }
    try expectNothing("absent numbers again") { try $0.declareAbsent(21...25, in: "room") }
    try expectNothing("sync positions again") {
      try $0.setSyncPosition([1, 2], for: "s")
      try $0.setSyncPosition([3], for: "s", in: "room")
      try $0.setSyncPosition(nil, for: "none")
      try $0.setSyncPosition(nil, for: "none", in: "unknown")
    }
  }

  @Test func aFullWriteOfNothingReturnsWhenEverythingItSawIsDurable() throws {
    let store = try store()
    try store.write(.relaxed) { try $0.insert(message("m9", at: 9)) }
    let last = store.statistics.lastCommit
    #expect(store.statistics.durableCommit < last)
    try store.write(.full) { _ in }
    #expect(store.statistics.lastCommit == last && store.statistics.durableCommit == last)
  }
}
