import ChatClient
import MsgStore
import MsgStoreTools
import Testing

/// What is written, changed, and taken back, before and after it has left.
@Suite(.serialized) struct ComposingTests {
  private let world: World
  private let ann: ChatClient
  private let bob: ChatClient

  init() throws {
    world = try World()
    ann = try world.client("ann")
    bob = try world.client("bob")
  }

  /// How far each step of scenario 3 comes before the next one.
  enum Pace: CaseIterable {
    case eachIsTold, onlyTheMessageIsTold, eachLosesItsAnswer, nothingIsTold
  }

  /// Scenario 3.
  @Test(arguments: Pace.allCases)
  func whatWasEditedThreeTimesAndTakenBackIsGoneEverywhere(_ pace: Pace) async throws {
    let room = try await world.room(ann, bob)
    try ann.say("before", in: room)
    try await world.settle(ann, bob)
    world.server.setFaultsByNumber { number in
      pace == .eachLosesItsAnswer && number % 2 == 1 ? .loseAnswer : nil
    }
    func step(_ isFirst: Bool = false) async throws {
      switch pace {
      case .nothingIsTold: break
      case .onlyTheMessageIsTold: if isFirst { try await world.settle(ann, bob) }
      case .eachLosesItsAnswer: try await ann.sync()
      case .eachIsTold: try await world.settle(ann, bob)
      }
    }
    let id = try ann.say("secret 0", in: room).value.id
    try await step(true)
    for number in 1...3 {
      try await ann.store.write { chat in
        _ = try chat.edit(id, in: room, text: "secret \(number)")
      }
      try await step()
    }
    if pace == .eachIsTold { #expect(try bob.texts(in: room) == ["before", "secret 3"]) }
    try await ann.store.write { chat in _ = try chat.retract(id, in: room) }
    try await world.settle(ann, bob)

    // Whoever has had it shows that it is gone. If nobody else has, nobody hears of it.
    for client in [ann, bob] {
      let messages = try client.messages(in: room)
      #expect(messages.allSatisfy { $0.text == "before" || $0.isRetracted && $0.text == "" })
      #expect(messages.count == (pace == .nothingIsTold ? 1 : 2))
      let history = try await client.store.read { chat in try chat.history(of: id, in: room) }
      #expect(!history.contains { $0.text.contains("secret") })
      #expect(try client.waitingCount == 0)
    }
    #expect(!world.server.messages(in: room).contains { $0.text.contains("secret") })
    try world.expectSameExport(ann, bob)
  }

  /// Scenario 5.
  @Test func twentyComposedOfflineAreReviewedAndSentInOrder() async throws {
    let room = try await world.room(ann, bob)
    try await ann.store.write { chat in _ = try chat.outbox.setHoldsNewEntries(true) }
    for number in 1...20 { try ann.say("draft \(number)", in: room) }
    try await world.settle(ann, bob)
    #expect(world.server.messages(in: room).isEmpty)
    #expect(try ann.messages(in: room).allSatisfy { $0.status == .held })

    // The app ends meanwhile; what was held is held.
    try await ann.store.close()
    let again = try world.client("ann")
    try await again.store.write { chat in
      let entries = try chat.outbox.entries(in: room, count: 50).entries
      for (index, entry) in entries.enumerated() {
        switch index + 1 {
        case 3: try chat.outbox.setText("better 3", of: entry.id)
        case 7: try chat.outbox.remove(entry.id)
        case 20: continue
        default: break
        }
        // The last one waits for another day.
        if index + 1 != 7 { try chat.outbox.release(entry.id) }
      }
      try chat.outbox.setHoldsNewEntries(false)
    }
    try await world.settle(again, bob)
    let expected = (1...19).filter { $0 != 7 }.map { $0 == 3 ? "better 3" : "draft \($0)" }
    #expect(world.server.messages(in: room).map(\.text) == expected)
    #expect(try bob.texts(in: room) == expected)
    #expect(try await again.store.read { chat in try chat.outbox.counts(in: room).held } == 1)

    // What comes later goes at once; the held one follows when it is released.
    try again.say("later", in: room)
    try await world.settle(again, bob)
    try await again.store.write { chat in _ = try chat.outbox.releaseAll(in: room) }
    try await world.settle(again, bob)
    #expect(try bob.texts(in: room) == expected + ["later", "draft 20"])
    try world.expectSameExport(again, bob)
  }

  /// Scenario 9.
  @Test func theLastOfTwoEditsWins() async throws {
    let room = try await world.room(ann, bob)
    let id = try ann.say("one", in: room).value.id
    try await world.settle(ann, bob)
    // Both at once, from one device.
    try await ann.store.write { chat in _ = try chat.edit(id, in: room, text: "two") }
    try await ann.store.write { chat in _ = try chat.edit(id, in: room, text: "three") }
    try await world.settle(ann, bob)
    #expect(try bob.texts(in: room) == ["three"])

    // From two devices, one of which has its clock an hour ahead: what counts is which of them the
    // server has heard last.
    let fast = TestClock()
    fast.advance(seconds: 3600)
    let tablet = try world.client("ann", store: "tablet", clock: fast)
    try await world.settle(tablet)
    try await tablet.store.write { chat in _ = try chat.edit(id, in: room, text: "tablet") }
    try await ann.store.write { chat in _ = try chat.edit(id, in: room, text: "phone") }
    #expect(try tablet.texts(in: room) == ["tablet"])
    try await tablet.sync()
    try await ann.sync()
    try await world.settle(ann, tablet, bob)
    for client in [ann, tablet, bob] { #expect(try client.texts(in: room) == ["phone"]) }
    try await tablet.store.close()
    try world.expectSameExport(ann, bob)
  }

  /// A message that is refused steps aside until somebody decides; what was shown of other things
  /// before the server knew of them is undone.
  @Test func whatTheServerRefusesIsUndoneOrStaysAside() async throws {
    let room = try await world.room(ann, bob)
    let id = try ann.say("one", in: room).value.id
    try await world.settle(ann, bob)
    world.server.setFault { request in request.token == nil ? nil : .refuse(.permission) }
    let refused = try ann.say("two", in: room).value.id
    try await ann.store.write { chat in
      try chat.edit(id, in: room, text: "uno")
      try chat.react("👍", to: id, in: room)
    }
    try await world.settle(ann)
    try await ann.store.write { chat in _ = try chat.retract(id, in: room) }
    try await world.settle(ann)
    let messages = try ann.messages(in: room)
    #expect(messages.map(\.text) == ["one", "two"])
    #expect(messages[0].reactions.isEmpty && messages[0].failure?.kind == .permission)
    #expect(messages[1].status == .failed && messages[1].failure?.kind == .permission)
    #expect(try await ann.store.read { chat in try chat.outbox.counts().failed } == 1)

    world.server.setFault { _ in nil }
    try ann.say("three", in: room)
    try await world.settle(ann, bob)
    #expect(try bob.texts(in: room) == ["one", "three"])
    try await ann.store.write { chat in _ = try chat.outbox.retryAll(includesFailed: true) }
    try await world.settle(ann, bob)
    #expect(try bob.texts(in: room) == ["one", "three", "two"])
    #expect(try ann.messages(in: room).last { $0.id == refused }?.status == .delivered)
    // What was refused has left its reasons here, so the exports are not the same.
    for client in [ann, bob] { #expect(try await client.store.check() == []) }
  }
}
