import MsgStore
import PageFile
import Testing

/// Messages that are sent at a time.
@Suite(.timeLimit(.minutes(30))) struct ScheduledSendTests {
  private let clock = TestClock(1_000_000)

  private func at(_ seconds: Int64) -> Timestamp { time(seconds * 1_000_000) }

  private func names(_ store: MessageStore) throws -> [String] {
    try store.expectSound()
    let names = try store.drain()
    try store.expectSound()
    return names
  }

  @Test func aMessageGoesAtItsTimeAndHoldsNobodyBackBefore() throws {
    let store = try clock.outboxStore()
    let sent = try store.write { chat throws in
      let sent = try chat.send(own("later"), at: at(100))
      try chat.send(own("now"))
      return sent
    }
    #expect(sent.status == .held)
    #expect(try store.tail == ["later", "now"])
    #expect(try store.waiting == ["send later at 100000000", "send now queued"])
    #expect(try store.counts() == OutboxCounts(queued: 1, held: 1))
    #expect(try names(store) == ["send now"])
    #expect(try store.nextTime() == at(100))
    clock.set(99_999_999)
    #expect(try names(store) == [])
    clock.set(100_000_000)
    try store.write { try $0.send(own("newer")) }
    // It has the place at which it was written.
    #expect(try names(store) == ["send later", "send newer"])
    #expect(try store.nextTime() == nil)
    #expect(try store.message("later")?.status == .sent)
  }

  @Test func itIsSoundAtEveryStepAndOutlivesTheProcess() throws {
    let files = MemoryDirectory()
    let store = try clock.outboxStore(files)
    try store.write { try $0.send(own("m"), at: at(3_000_000)) }
    try store.expectSound()
    try store.close()
    let again = try clock.outboxStore(files)
    try again.expectSound()
    #expect(try again.entries().map(\.state) == [.scheduled(at: at(3_000_000))])
    clock.set(2_999_999_999_999)
    #expect(try again.next() == nil)
    clock.set(3_000_000_000_000)
    let item = try again.take()
    try again.expectSound()
    #expect(item.name == "send m" && item.attempt == 1)
    #expect(try again.message("m")?.status == .sending)
  }

  @Test func aTimeThatHasPassedIsNow() throws {
    let store = try clock.outboxStore()
    let sent = try store.write { try $0.send(own("m"), at: at(1)) }
    #expect(sent.status == .pending)
    #expect(try names(store) == ["send m"])
  }

  @Test func releasingHoldingAndAnotherTimeAreDecisionsOfPeople() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      for id in ["a", "b", "c", "d"] as [MessageID] { try chat.send(own(id), at: at(100)) }
      try chat.send(own("e"))
    }
    let ids = try ["a", "b", "c", "d", "e"].map { try store.entryID(.send, MessageID($0)) }
    try store.write { chat throws in
      #expect(try chat.outbox.release(ids[0]))
      #expect(try chat.outbox.schedule(ids[1], at: at(50)))
      #expect(try !chat.outbox.schedule(ids[1], at: at(50)))
      #expect(try chat.outbox.hold(ids[2]))
      #expect(try !chat.outbox.retry(ids[3]))
      #expect(try chat.outbox.schedule(ids[4], at: at(60)))
      #expect(throws: StoreError.outbox(.notFound, .init(rawValue: 999))) {
        try chat.outbox.schedule(.init(rawValue: 999), at: at(60))
      }
      #expect(throws: StoreError.input(.implausibleTime(time(-1)))) {
        try chat.outbox.schedule(ids[0], at: time(-1))
      }
    }
    #expect(
      try store.waiting == [
        "send a queued", "send b at 50000000", "send c held", "send d at 100000000",
        "send e at 60000000",
      ])
    #expect(try names(store) == ["send a"])
    #expect(try store.nextTime() == at(50))
    clock.set(50_000_000)
    let running = try store.take()
    #expect(running.name == "send b")
    try store.write { chat throws in
      #expect(throws: StoreError.outbox(.leased, running.id)) {
        try chat.outbox.schedule(running.id, at: at(70))
      }
    }
    try store.done(running)
    clock.set(200_000_000)
    #expect(try names(store) == ["send d", "send e"])
    #expect(try store.waiting == ["send c held"])
  }

  @Test func releasesAndRetriesOfAllLeaveItsTime() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      try chat.send(own("m"), at: at(100))
      try chat.send(own("held"))
    }
    let held = try store.entryID(.send, "held")
    try store.write { chat throws in
      try chat.outbox.hold(held)
      #expect(try chat.outbox.releaseAll() == 1)
      #expect(try chat.outbox.retryAll(includesFailed: true) == 0)
      #expect(try chat.outbox.releaseAndRetryAll() == 0)
    }
    #expect(try names(store) == ["send held"])
    #expect(try store.waiting == ["send m at 100000000"])
  }

  @Test func whatIsToldOfItLaterWaitsForIt() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      try chat.send(own("m"), at: at(100))
      try chat.edit("m", in: "room", text: "better")
    }
    #expect(try store.waiting == ["send m at 100000000", "edit m queued, blocked"])
    #expect(try names(store) == [])
    clock.set(100_000_000)
    #expect(try names(store) == ["send m", "edit m: better"])
  }

  @Test func itsUploadsGoWithIt() throws {
    let store = try clock.outboxStore()
    try store.write { try $0.send(ownWithFiles("m", ["f", "g"]), at: at(100)) }
    #expect(try names(store) == [])
    clock.set(100_000_000)
    #expect(try names(store) == ["upload f", "upload g", "send m"])
  }

  @Test func itsTextCanBeChangedAndItCanBeTakenBack() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      try chat.send(own("m"), at: at(100))
      try chat.send(own("gone"), at: at(100))
    }
    let id = try store.entryID(.send, "m")
    try store.write { chat throws in
      #expect(try chat.outbox.setText("other", of: id))
      #expect(try chat.retract("gone", in: "room"))
    }
    try store.expectSound()
    #expect(try store.tail == ["m"] && store.waiting == ["send m at 100000000"])
    clock.set(100_000_000)
    guard case .send(let message) = try store.take().task else { return #expect(Bool(false)) }
    #expect(message.text == "other")
  }

  /// It may be on the server already; so its retraction must not wait for the time.
  @Test func oneThatMayHaveLeftIsSentAgainAtOnceToBeTakenBack() throws {
    let store = try clock.outboxStore()
    try store.write { try $0.send(own("m")) }
    let item = try store.take()
    try store.fail(item)
    try store.write { chat throws in
      #expect(try chat.outbox.schedule(item.id, at: at(100_000)))
      #expect(try chat.retract("m", in: "room"))
    }
    #expect(try names(store) == ["send m", "retract m"])
  }

  @Test func whereNewEntriesAreHeldItIsHeldWithoutATime() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      try chat.outbox.setHoldsNewEntries(true)
      try chat.send(own("m"), at: at(100))
    }
    #expect(try store.waiting == ["send m held"])
  }

  @Test func itGoesWithItsConversationToAnotherName() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      let room = try chat.createGroup("mine", participants: ["ann"]).id
      try chat.send(own("m", in: room), at: at(100))
      try chat.receive(ReceivedConversation("theirs", at: time(5)) { $0.title = .text("x") })
      try chat.renameConversation("mine", to: "theirs")
    }
    try store.expectSound()
    #expect(try store.entries(in: "theirs").map(\.state) == [.scheduled(at: at(100))])
    clock.set(100_000_000)
    #expect(try names(store) == ["send m"])
  }

  @Test func deletingTheConversationTakesItAway() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      try chat.send(own("m"), at: at(100))
      _ = try chat.deleteConversation("room")
    }
    try store.expectSound()
    // The deletion is due at once, and nothing at the time of the message.
    #expect(try store.nextTime() != at(100))
    clock.set(100_000_000)
    #expect(try names(store) == ["delete"])
  }

  @Test func anAgeLimitBeginsAtItsTime() throws {
    let store = try clock.outboxStore { $0.maximumAge = .seconds(10) }
    try store.write { try $0.send(own("m"), at: at(100)) }
    clock.set(105_000_000)
    #expect(try names(store) == ["send m"])
  }

  /// More than one call queues, of different conversations; earlier times first.
  @Test(arguments: seeds(2)) func manyGoInTheOrderOfTheirTimes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try clock.outboxStore()
    var times: [MessageID: Int64] = [:]
    try store.write { chat throws in
      for index in 0..<200 {
        let id = MessageID("m\(index)")
        let seconds = Int64.random(in: 2...50, using: &random)
        times[id] = seconds
        try chat.send(own(id, in: ConversationID("c\(index % 7)")), at: at(seconds))
      }
    }
    var taken: Set<MessageID> = []
    for seconds in Int64(1)...50 {
      clock.set(seconds * 1_000_000)
      for name in try store.drain() { taken.insert(MessageID(String(name.dropFirst(5)))) }
      #expect(taken == Set(times.filter { $0.value <= seconds }.keys), "seed \(seed), \(seconds)")
      try store.expectSound()
    }
  }

  @Test func workWakesUpForIt() async throws {
    var options = StoreOptions(localMember: "me")
    options.createsConversationsOnSend = true
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    let begin = options.clock()
    let soon = Timestamp(microseconds: begin.microseconds + 50_000)
    try await store.write { try $0.send(own("m"), at: soon) }
    // One far away keeps nobody awake.
    let year = Timestamp(microseconds: begin.microseconds + 365 * 86_400_000_000)
    try await store.write { try $0.send(own("far"), at: year) }
    for try await work in store.work(for: "w") {
      #expect(work.name == "send m" && options.clock() >= soon)
      try await store.write { try $0.outbox.complete(work) }
      break
    }
    #expect(try store.waiting == ["send far at \(year.microseconds)"])
  }
}
