import MsgStore
import PageFile
import Testing

/// The server's time takes the place of this device's, so that a clock that is ahead decides nothing.
@Suite struct OutboxServerTimeTests {
  /// An hour ahead of the server.
  private let clock = TestClock(3_600_000_000)

  private func storeWithMessage() throws -> MessageStore {
    let store = try clock.outboxStore()
    try store.write {
      _ = try $0.createGroup("room", participants: ["you", "ann"], title: "before")
      try $0.insert(message("r", at: 1))
    }
    #expect(try store.drain() == ["create room"])
    return store
  }

  private func reactions(_ store: MessageStore) throws -> [String] {
    try #require(try store.message("r")).reactions.map(\.emoji)
  }

  @Test func aReactionIsTakenAwayElsewhereThoughTheClockIsAhead() throws {
    let store = try storeWithMessage()
    try store.write { _ = try $0.react("👍", to: "r", in: "room") }
    try store.done(try store.take(), serverTime: time(100))
    #expect(try reactions(store) == ["👍"])
    let gone = Reaction("👍", from: "me", at: time(200))
    #expect(try store.write { try $0.receive(gone, isRemoved: true, to: "r", in: "room") })
    #expect(try reactions(store) == [])
    try store.expectSound()
  }

  @Test func aReactionThatWasTakenAwaySinceKeepsItsTime() throws {
    let store = try storeWithMessage()
    try store.write { _ = try $0.react("👍", to: "r", in: "room") }
    let item = try store.take()
    try store.write { _ = try $0.removeReaction("👍", from: "r", in: "room") }
    try store.done(item, serverTime: time(100))
    #expect(try reactions(store) == [])
    try store.done(try store.take(), serverTime: time(150))
    // What was before both is no news.
    let old = Reaction("👍", from: "me", at: time(120))
    #expect(try !store.write { try $0.receive(old, to: "r", in: "room") })
    #expect(try reactions(store) == [])
    try store.expectSound()
  }

  @Test func aTitleIsChangedElsewhereThoughTheClockIsAhead() throws {
    let store = try storeWithMessage()
    try store.write { _ = try $0.setTitle("mine", of: "room") }
    try store.done(try store.take(), serverTime: time(100))
    var received = ReceivedConversation("room", at: time(200))
    received.title = .text("theirs")
    #expect(try store.write { try $0.receive(received) })
    #expect(try store.read { try $0.conversation("room") }?.title == "theirs")
    try store.expectSound()
  }

  @Test func aMessageThatIsTakenBackHasTheServersTime() throws {
    let store = try storeWithMessage()
    try store.write {
      try $0.send(own("m"))
      _ = try $0.acknowledge("m", in: "room", serverTimestamp: time(50), sequence: 2)
      _ = try $0.retract("m", in: "room")
    }
    try store.done(try store.take(), serverTime: time(100))
    let message = try #require(try store.message("m"))
    #expect(message.isRetracted && message.retractedAt == time(100))
    try store.expectSound()
  }
}
