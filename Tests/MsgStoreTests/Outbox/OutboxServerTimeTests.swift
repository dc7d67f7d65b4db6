import MsgStore
import PageFile
import Testing

/// The server's time takes the place of this device's, so that a clock that is ahead decides nothing.
struct OutboxServerTimeTests {
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

  @Test(arguments: [true, false])
  func aGroupHasTheServersTimeWhicheverWayItCameFirst(_ isNamedFirst: Bool) throws {
    let store = try clock.outboxStore()
    try store.write {
      _ = try $0.createGroup("mine", participants: ["you", "ann"], title: "group")
    }
    let item = try store.take()
    if isNamedFirst { try store.write { _ = try $0.renameConversation("mine", to: "room") } }
    #expect(try store.done(item, serverTime: time(100)))
    if !isNamedFirst { try store.write { _ = try $0.renameConversation("mine", to: "room") } }
    #expect(try store.read { try $0.conversation("room") }?.createdAt == time(100))
    // A title that was set before is no news, whatever this device's clock says.
    var received = ReceivedConversation("room", at: time(99))
    received.title = .text("older")
    try store.write { _ = try $0.receive(received) }
    #expect(try store.read { try $0.conversation("room") }?.title == "group")
    received = ReceivedConversation("room", at: time(101))
    received.title = .text("newer")
    try store.write { _ = try $0.receive(received) }
    #expect(try store.read { try $0.conversation("room") }?.title == "newer")
    #expect(try !store.done(item, serverTime: time(100)))
    try store.expectSound()
  }

  @Test(arguments: [true, false])
  func aRetractionHasTheServersTimeWhicheverWayItCameFirst(_ isToldFirst: Bool) throws {
    let store = try storeWithMessage()
    try store.write {
      try $0.insert(message("mine", at: 2, from: "me"))
      _ = try $0.retract("mine", in: "room")
    }
    let item = try store.take()
    func tell() throws {
      try store.write { _ = try $0.receiveRetraction(of: "mine", in: "room", at: nil) }
    }
    if isToldFirst { try tell() }
    #expect(try store.done(item, serverTime: time(100)))
    if !isToldFirst { try tell() }
    #expect(try store.message("mine")?.retractedAt == time(100))
    // Others may have retracted it before.
    try store.write { _ = try $0.receiveRetraction(of: "mine", in: "room", at: time(90)) }
    #expect(try !store.done(item, serverTime: time(100)))
    #expect(try store.message("mine")?.retractedAt == time(90))
    try store.expectSound()
  }
}
