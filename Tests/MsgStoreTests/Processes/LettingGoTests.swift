import Damage
import Foundation
import MsgStore
import PageFile
import Testing

/// The last reference to a store goes while something is under way.
@Suite(.timeLimit(.minutes(30))) struct LettingGoTests {
  /// Syncs take a while, and with them what goes on in the background.
  private let directory = HookedDirectory { (call, _) in if call.kind == .sync { usleep(300) } }

  private func open() throws -> MessageStore {
    try MessageStore(
      in: directory, name: "store", options: StoreOptions(localMember: "me").makingConversations)
  }

  @Test func theFilesAreFreeAtOnceWhenTheLastReferenceGoes() async throws {
    for round in 0..<200 {
      let room = ConversationID("room \(round)")
      var store: MessageStore? = try open()
      let sent = try await store?.send(own("m", in: room))
      var ends: [Task<Void, any Error>] = []
      switch round % 4 {
      case 0:
        // Work is left, in several steps.
        try await store?.write(.relaxed) { try $0.deleteConversation(room) }
      case 1:
        _ = try await store?.writeWithoutWaiting { try $0.setTitle("title", of: room) }
      case 2:
        if let values = store?.thread(room).live(newest: 5) {
          ends.append(Task { for try await _ in values {} })
        }
        if let work = store?.work(for: "w") { ends.append(Task { for try await _ in work {} }) }
      default:
        _ = try await store?.read { try $0.thread(room).tail(5) }
      }
      store = nil
      // Whoever holds what was sent holds no store.
      store = try open()
      try sent.map { try blockUntilDurable($0) }
      store = nil
      for end in ends { try await end.value }
    }
    let store = try open()
    try store.finishWork()
    try store.expectSound()
  }

  /// The closure has the last reference, so the store ends on a thread of its own.
  @Test func aStoreMayEndOnItsOwnThread() async throws {
    for _ in 0..<20 {
      let store = try await openWhenFree()
      async let count = store.read { _ in withExtendedLifetime(store) { 1 } }
      #expect(try await count == 1)
    }
    _ = try await openWhenFree()
  }

  private func openWhenFree() async throws -> MessageStore {
    for _ in 0..<1000 {
      if let store = try? open() { return store }
      try await Task.sleep(for: .milliseconds(1))
    }
    return try open()
  }
}
