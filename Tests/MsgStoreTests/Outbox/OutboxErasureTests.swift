import MsgStore
import PageFile
import Simulation
import Testing

/// What an entry of the outbox has said is in none of the files after it is gone and a checkpoint was
/// made.
struct OutboxErasureTests {
  enum End: String, CaseIterable, Sendable {
    case done, removed, undone, deletedWithItsMessage, deletedWithItsConversation
  }

  private static let canary = "Kanarienvogel"

  /// A store in which nothing goes on in the background: a checkpoint leaves what such work, as a
  /// reader, may still be looking at for the next one.
  private func quietStore(_ directory: MemoryDirectory) throws -> MessageStore {
    try TestClock(3_000).store(directory) { $0.worksInBackground = false }
  }

  /// Neighbours, so that pages are shared, split and merged, and written more than once.
  private func fill(_ store: MessageStore, _ round: Int) throws {
    try store.write { chat in
      for number in 0..<40 {
        let name = "n\(round)-\(number)"
        try chat.insert(message(MessageID(name), at: Int64(number)))
        try chat.outbox.enter("work \(name)", payload: Array("neighbour".utf8), in: "room")
      }
    }
    try store.checkpoint()
  }

  @Test(arguments: [End.done, .removed, .deletedWithItsConversation], [20, 900, 100_000])
  func noFileHasAPayloadThatIsGone(end: End, byteCount: Int) throws {
    let directory = MemoryDirectory()
    let store = try quietStore(directory)
    try fill(store, 0)
    let payload = Array(Self.canary.utf8) + Array(repeating: UInt8(ascii: "x"), count: byteCount)
    let id = try store.write { try $0.outbox.enter(Self.canary, payload: payload, in: "room") }
    try store.checkpoint()
    try fill(store, 1)
    // It is written again with another state, and moves with its pages.
    try store.write { _ = try $0.outbox.hold(id) }
    try store.checkpoint()
    #expect(directory.holds(Self.canary), "the search works")
    switch end {
    case .done:
      try store.write { chat in
        try chat.outbox.release(id)
        while let item = try chat.outbox.next(for: "worker") { try chat.outbox.complete(item) }
      }
    case .removed: try store.write { try $0.outbox.remove(id) }
    default:
      try store.write { chat in
        let owner = "worker"
        try chat.deleteConversation("room")
        // What the client means by its work it knows alone, so it stays.
        #expect(try chat.outbox.entry(id)?.state == .held)
        try chat.outbox.release(id)
        while let item = try chat.outbox.next(for: owner) { try chat.outbox.complete(item) }
      }
    }
    try store.checkpoint()
    #expect(!directory.holds(Self.canary))
    try store.close()
    #expect(!directory.holds(Self.canary))
    try quietStore(directory).expectSound()
  }

  @Test(arguments: [End.removed, .undone, .deletedWithItsMessage])
  func noFileHasAReactionThatNeverLeft(end: End) throws {
    let directory = MemoryDirectory()
    let store = try quietStore(directory)
    try fill(store, 0)
    try store.write { try $0.react(Self.canary, to: "n0-3", in: "room") }
    try store.checkpoint()
    try fill(store, 1)
    #expect(directory.holds(Self.canary), "the search works")
    let entries = try store.read { try $0.outbox.entries(count: 1000).entries }
    let entry = try #require(entries.first { $0.kind == .react })
    switch end {
    case .removed: try store.write { try $0.outbox.remove(entry.id) }
    case .undone: try store.write { try $0.removeReaction(Self.canary, from: "n0-3", in: "room") }
    default: break
    }
    // A reaction that was taken away stays known of its message, see F-5.
    try store.write { try $0.delete("n0-3", in: "room") }
    try store.checkpoint()
    #expect(!directory.holds(Self.canary))
    #expect(try store.read { try $0.outbox.entry(entry.id) } == nil)
    try store.expectSound()
  }
}
