import Damage
import MsgStore
import MsgStoreTools
import PageFile
import RandomChat
import Testing

/// The replies of stores that were written before there was a tree of them.
@Suite struct RaisedRepliesTests {
  private func open(
    _ directory: any StorageDirectory, _ access: StoreOptions.Access = .readWrite,
    stepCount: Int = 1000, packs: Bool = true
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", access: access, clock: { time(1_000_000) })
    options.worksInBackground = false
    options.packs = packs
    options.packing = PackingSizes(looseCount: 2, maximumSegmentByteCount: 150)
    options.steps = StepSizes(maximumSweepCount: stepCount)
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// A closed store of three conversations of a hundred replies each, as version 4 left it.
  private func oldStore(packs: Bool = true) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let store = try open(directory, packs: packs)
    for room in ["a", "b", "c"] as [ConversationID] {
      try store.write { chat in
        _ = try chat.createGroup(room, participants: ["you"])
        for number in 100..<200 as Range<Int64> {
          try chat.insert(reply(MessageID("r\(number)"), to: "m", at: number, number, in: room))
        }
      }
    }
    try store.close()
    try directory.forgetReplies()
    return directory
  }

  @Test func theyAreEnteredInStepsNewestFirst() throws {
    let directory = try oldStore()
    let reader = try open(directory, .readOnly)
    try reader.read { chat in
      let replies = try chat.replies(to: "m", in: "c")
      #expect(try !replies.isComplete && replies.count() == 0)
    }
    try reader.expectSound()
    try reader.close()

    let store = try open(directory, stepCount: 40)
    let changes = store.changes.makeAsyncIterator()
    var counts: [[Int]] = []
    while try store.read({ try $0.hasWork }) {
      try store.expectSound()
      let before = try store.read { chat in
        try ["a", "b", "c"].map { room in
          let replies = try chat.replies(to: "m", in: ConversationID(room))
          let slice = try replies.newest(1000)
          if let start = replies.completeFrom {
            #expect(slice.allSatisfy { $0.position >= start })
          } else {
            #expect(slice.count == 100)
          }
          return slice.count
        }
      }
      counts.append(before)
      try store.write { try $0.doWork() }
      #expect(changes.nextIfThere()?.conversations.isEmpty == false)
    }
    #expect(
      counts == [
        [0, 0, 0], [0, 0, 40], [0, 0, 80], [0, 20, 100], [0, 60, 100], [0, 100, 100],
        [40, 100, 100], [80, 100, 100],
      ])
    for room in ["a", "b", "c"] as [ConversationID] {
      #expect(try store.replyNames(to: "m", in: room).count == 100)
      #expect(try store.read { try $0.replies(to: "m", in: room).isComplete })
    }
    try store.expectSound()
    try store.close()
  }

  @Test func aStepIsContinuedByTheNextOpening() throws {
    let directory = try oldStore()
    for _ in 0..<8 {
      let store = try open(directory, stepCount: 40)
      try store.write { try $0.doWork() }
      try store.expectSound()
      try store.close()
    }
    let store = try open(directory)
    #expect(try !store.read { try $0.hasWork })
    #expect(try store.replyNames(to: "m", in: "a").count == 100)
    try store.close()
  }

  @Test func theFirstOpeningGoesOnByItself() async throws {
    let directory = try oldStore()
    let store = try MessageStore(
      in: directory, name: "store", options: StoreOptions(localMember: "me"))
    try await wait { try await store.read { try $0.replies(to: "m", in: "a").isComplete } }
    #expect(try store.replyNames(to: "m", in: "a").count == 100)
    try await store.close()
  }

  @Test func whatChangesMeanwhileIsEnteredOnce() throws {
    let directory = try oldStore()
    let store = try open(directory, stepCount: 40)
    for _ in 0..<3 { try store.write { try $0.doWork() } }
    // The steps have come to r180 of "b".
    try store.write { chat in
      for room in ["a", "b", "c"] as [ConversationID] {
        try chat.insert(reply("early", to: "m", at: 50, in: room))
        try chat.insert(reply("late", to: "m", at: 500, in: room))
        try chat.acknowledge("r110", in: room, serverTimestamp: time(600), revision: 1)
        try chat.acknowledge("r190", in: room, serverTimestamp: time(60), revision: 1)
        try chat.delete("r111", in: room)
        try chat.delete("r191", in: room)
        try chat.receiveRetraction(of: "r112", in: room, at: nil)
        try chat.receiveRetraction(of: "r192", in: room, at: nil)
      }
      _ = try chat.createGroup("new", participants: ["you"])
      try chat.insert(reply("x", to: "m", at: 5, in: "new"))
      try chat.renameConversation("a", to: "c")
    }
    try store.expectSound()
    #expect(try store.replyNames(to: "m", in: "new") == ["x"])
    while try store.read({ try $0.hasWork }) {
      try store.write { try $0.doWork() }
      try store.expectSound()
    }
    let names = try store.replyNames(to: "m", in: "b")
    #expect(names.count == 98 && names.first == "early" && names.last == "r110")
    #expect(try store.replyNames(to: "m", in: "c") == names)
    try store.close()
  }

  /// Wherever the entering is cut off, the next opening goes on from there.
  @Test func aKillAtAnyMomentLosesNoReplyAndEntersNoneTwice() throws {
    let old = try oldStore()
    let cuts = Locked<[MemoryDirectory]>([])
    let hooked = HookedDirectory(old.copy()) { (call, files) throws(PageFileError) in
      if call.isChange || call.kind == .sync { cuts.withLock { $0.append(files.copy()) } }
    }
    let whole = try open(hooked, stepCount: 40)
    while try whole.read({ try $0.hasWork }) {
      try whole.write { try $0.doWork() }
      try whole.checkpoint()
    }
    try whole.close()
    let expected = try Cells(hooked.files).all(Cells.repliesTree).map(\.key)
    #expect(expected.count == 300)
    let all = cuts.withLock { $0 }
    #expect(all.count > 30)
    var partCounts: Set<Int> = []
    for cut in all {
      let reader = try open(cut.copy(), .readOnly)
      try reader.expectSound()
      let count = try ["a", "b", "c"].reduce(0) { count, room in
        try count + reader.replyNames(to: "m", in: ConversationID(room)).count
      }
      partCounts.insert(count)
      try reader.close()
      let store = try open(cut, stepCount: 70)
      try store.expectSound()
      try store.finishWork()
      try store.expectSound()
      try store.close()
      #expect(try Cells(cut).all(Cells.repliesTree).map(\.key) == expected)
    }
    #expect(partCounts == [0, 40, 80, 120, 160, 200, 240, 280, 300])
  }

  /// A message, a segment, and a key that cannot be read are left to `check`.
  @Test(arguments: [false, true]) func malformedMessagesArePassedOver(_ isPacked: Bool) throws {
    let directory = try oldStore(packs: isPacked)
    let cells = try Cells(directory).all(Cells.messagesTree)
    #expect(try Cells(directory).segments.isEmpty != isPacked)
    for stepCount in [1, 7, 1000] {
      // The last cell, the first one, two that are neighbours, and one whose key is not a place.
      let chosen = [0, cells.count / 2, cells.count / 2 + 1, cells.count - 1]
      var changes: [(key: [UInt8], value: [UInt8]?)] = chosen.map { index in
        (cells[index].key, Array(cells[index].value.prefix(4)))
      }
      let key = cells[cells.count / 3].key
      changes.append((Array(key.prefix(4)) + [0x77], [1]))
      changes.append((Array(key.prefix(4)), [1]))
      let damaged = try Cells(directory).changed(changes, in: Cells.messagesTree)
      let store = try open(damaged, stepCount: stepCount)
      var count = 0
      while try store.read({ try $0.hasWork }), count < 1000 {
        try store.write { try $0.doWork() }
        count += 1
      }
      #expect(try !store.read { try $0.hasWork }, "after \(count) steps")
      #expect(try !store.check().isEmpty)
      try store.close()
      // All others are entered.
      let lost = isPacked ? 4 * 25 : 4
      let entered = try Cells(damaged).all(Cells.repliesTree).count
      #expect((300 - lost...299).contains(entered), "\(entered) entered")
      if !isPacked { #expect(entered == 296) }
    }
  }

  @Test func anEmptyStoreHasNothingToEnter() throws {
    let directory = MemoryDirectory()
    try open(directory).close()
    try directory.forgetReplies()
    let store = try open(directory)
    #expect(try !store.read { try $0.hasWork })
    try store.write { try $0.insert(reply("r", to: "m", at: 1)) }
    #expect(try store.replyNames(to: "m") == ["r"])
    try store.expectSound()
    try store.close()
  }

  /// Whatever is done while the replies of an older store are being entered, the recount agrees.
  @Test func anyActsBetweenTheStepsLeaveTheRepliesRight() throws {
    var stepCount = 0
    for (index, seed) in seeds(6, debugCount: 2).enumerated() {
      var random = SeededGenerator(seed: seed)
      var acts = RandomActs(seed: seed, idCount: 30, steps: CalledSteps())
      let clock = TickingClock(1_005_000)
      var options = StoreOptions(localMember: "me", clock: { clock.now })
      options.worksInBackground = false
      options.packing = .random(seed)
      options.steps = StepSizes(
        // So that there are some steps with any seeds.
        maximumSweepCount: index == 0 ? 1 : .random(in: 1...9, using: &random),
        maximumMergeCount: .random(in: 1...9, using: &random))
      let directory = MemoryDirectory()
      var store = try MessageStore(in: directory, name: "store", options: options)
      for _ in 0..<120 {
        clock.advance()
        try acts.transaction().run(on: store)
      }
      try store.finishWork()
      try store.close()
      try directory.forgetReplies()
      store = try MessageStore(in: directory, name: "store", options: options)
      for _ in 0..<60 {
        let before = try store.check().map(\.description)
        let difference = try Recount.defect(of: store, for: "me")
        #expect(before == [] && difference == nil, "seed \(seed)")
        var transaction = acts.transaction()
        transaction.finishesWork = false
        clock.advance()
        try transaction.run(on: store)
        if random.chance(50), try store.read({ try $0.hasWork }) {
          stepCount += 1
          try store.write { try $0.doWork() }
        }
      }
      try store.finishWork()
      #expect(try Recount.defect(of: store, for: "me") == nil, "seed \(seed)")
      try store.expectSound()
      try store.close()
    }
    #expect(stepCount > 5)
  }
}
