import MsgStore
import PageFile
import Testing

/// Complete lists of a range of a thread.
struct ReconcileTests {
  private func thread(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.thread("room").tail(1000).ids }
  }

  private func filled(_ times: [Int64] = [1, 2, 3, 4, 5]) throws -> MessageStore {
    let store = try memoryStore()
    try store.write {
      for time in times { try $0.insert(message(MessageID("m\(time)"), at: time)) }
      try $0.send(message("pending", at: nil, from: "me"))
    }
    return store
  }

  @Test func whatIsAbsentGoesAndWhatIsPendingStays() throws {
    let store = try filled()
    let outcome = try store.write {
      try $0.reconcile(
        [message("m2", at: 2), message("new", at: 3), message("m5", at: 5)], in: "room",
        within: .all)
    }
    #expect(outcome.removed == ["m1", "m3", "m4"])
    #expect(outcome.outcomes == [.duplicate, .inserted, .duplicate])
    #expect(try thread(store) == ["m2", "new", "m5", "pending"])
    #expect(try store.read { try $0.conversation("room")?.unreadCount } == 3)
    try store.expectSound()
  }

  @Test func theNewestPageReachesFromItsOldestMessageOn() throws {
    let store = try filled()
    let page = [message("m3", at: 3), message("m5", at: 5)]
    let outcome = try store.write { try $0.reconcile(page, in: "room", within: .newest(count: 2)) }
    #expect(outcome.removed == ["m4"])
    #expect(try thread(store) == ["m1", "m2", "m3", "m5", "pending"])
    // Fewer than were asked for: there are no others.
    let rest = try store.write { try $0.reconcile(page, in: "room", within: .newest(count: 3)) }
    #expect(rest.removed == ["m1", "m2"])
    let nothing = try store.write { try $0.reconcile([], in: "room", within: .newest(count: 3)) }
    #expect(nothing.removed == ["m3", "m5"])
    #expect(try thread(store) == ["pending"])
    try store.expectSound()
  }

  @Test func malformedMessagesOfAListArePassedOverNamedAndNotRemoved() throws {
    let store = try filled()
    let mistaken = Timestamp(seconds: 1_704_067_200_000).microseconds
    let list = [
      message("m1", at: 1), message("", at: 2), message("m3", at: mistaken),
      message("new", at: mistaken), message("m5", at: 5),
    ]
    let outcome = try store.write { try $0.reconcile(list, in: "room", within: .all) }
    #expect(outcome.refusals.map(\.index) == [1, 2, 3])
    #expect(outcome.refusals.map(\.id) == ["", "m3", "new"])
    #expect(outcome.refusals.last?.reason == .input(.implausibleTime(time(mistaken))))
    #expect(outcome.outcomes == [.duplicate, .duplicate] && outcome.removed == ["m2", "m4"])
    #expect(try thread(store) == ["m1", "m3", "m5", "pending"])
    try store.expectSound()
  }

  /// The malformed ones count towards the page: with them the server gave as many as were wanted.
  @Test func malformedMessagesDoNotMakeAPageTheWholeThread() throws {
    let store = try filled()
    let page = [message("", at: 3), message("m5", at: 5)]
    let outcome = try store.write { try $0.reconcile(page, in: "room", within: .newest(count: 2)) }
    #expect(outcome.removed == [] && outcome.refusals.map(\.index) == [0])
    let nothing = try store.write {
      try $0.reconcile([message("", at: 3)], in: "room", within: .newest(count: 1))
    }
    #expect(nothing.removed == [])
    #expect(try thread(store) == ["m1", "m2", "m3", "m4", "m5", "pending"])
    try store.expectSound()
  }

  @Test func timesAndPositionsBoundARange() throws {
    let store = try filled()
    try store.write {
      #expect(
        try $0.reconcile([], in: "room", within: .times(time(2)...time(3))).removed == ["m2", "m3"])
      let last = try $0.message("m4", in: "room")?.position ?? message("x", at: 0).position
      #expect(try $0.reconcile([], in: "room", within: .positions(last...last)).removed == ["m4"])
      #expect(
        try $0.reconcile([], in: "room", within: .times(time(6)...time(.max))).removed == [])
    }
    #expect(try thread(store) == ["m1", "m5", "pending"])
    try store.expectSound()
  }

  private func position(
    _ id: MessageID, _ chat: borrowing StoreWriter
  ) throws(StoreError) -> MessagePosition {
    let message = try chat.message(id, in: "room")
    guard let message else { throw .message(.notFound, id, in: "room") }
    return message.position
  }

  /// Seven messages of two times, without sequences; the server's order within a time is another one.
  private func filledWithTies() throws -> MessageStore {
    let store = try memoryStore()
    try store.write {
      for id in ["a", "b", "c", "d"] as [MessageID] { try $0.insert(message(id, at: 5)) }
      for id in ["x", "y", "z"] as [MessageID] { try $0.insert(message(id, at: 9)) }
    }
    return store
  }

  @Test func atTheBorderOfThePageEqualTimesStay() throws {
    let store = try filledWithTies()
    // The server has them as d c b a z y x.
    let page = [message("b", at: 5), message("a", at: 5), message("x", at: 9)]
    let outcome = try store.write { try $0.reconcile(page, in: "room", within: .newest(count: 3)) }
    #expect(outcome.removed == ["y", "z"])
    #expect(try thread(store) == ["a", "b", "c", "d", "x"])
    // All of one time: nothing can be told.
    let one = try store.write { try $0.reconcile([page[2]], in: "room", within: .newest(count: 1)) }
    #expect(one.removed == [])
    // Fewer than were asked for: there are no others.
    let all = try store.write { try $0.reconcile(page, in: "room", within: .newest(count: 4)) }
    #expect(all.removed == ["c", "d"])
    try store.expectSound()
  }

  @Test func atTheBordersOfPositionsEqualTimesStay() throws {
    let store = try filledWithTies()
    try store.write {
      try $0.insert(message("m", at: 7))
      let range = try position("b", $0)...position("y", $0)
      // What the borders themselves are is said.
      let inside = try $0.reconcile([], in: "room", within: .positions(range)).removed
      #expect(inside == ["b", "m", "y"])
      let rest = try position("c", $0)...position("c", $0)
      let alone = try $0.reconcile([], in: "room", within: .positions(rest)).removed
      #expect(alone == ["c"])
    }
    #expect(try thread(store) == ["a", "d", "x", "z"])
    try store.write {
      let all = try $0.reconcile([], in: "room", within: .times(time(5)...time(5))).removed
      #expect(all == ["a", "d"])
    }
    try store.expectSound()
  }

  /// Where the server numbers its messages, its order within a time is ours.
  @Test func atTheBorderSequencesTell() throws {
    let store = try memoryStore()
    try store.write {
      for sequence in 1...4 as ClosedRange<Int64> {
        try $0.insert(message(MessageID("s\(sequence)"), at: 5, sequence))
      }
      try $0.insert(message("none", at: 5))
      let page = [message("s2", at: 5, 2), message("s4", at: 5, 4)]
      let newest = try $0.reconcile(page, in: "room", within: .newest(count: 2)).removed
      #expect(newest == ["s3"])
      let (first, last) = (try position("s1", $0), try position("s4", $0))
      let between = try $0.reconcile([page[1]], in: "room", within: .positions(first...last))
        .removed
      #expect(between == ["s1", "s2"])
    }
    #expect(try thread(store) == ["s4", "none"])
    try store.expectSound()
  }

  @Test func pendingPositionsBoundNothing() throws {
    let store = try filled([1, 2])
    try store.write {
      let (first, pending) = (try position("m1", $0), try position("pending", $0))
      let none = try $0.reconcile([], in: "room", within: .positions(pending...pending)).removed
      let all = try $0.reconcile([], in: "room", within: .positions(first...pending)).removed
      #expect(none == [] && all == ["m1", "m2"])
    }
    #expect(try thread(store) == ["pending"])
  }

  @Test func whatIsToldAgainComesBackButNotWhatWasTakenBackOrDeleted() throws {
    let store = try filled()
    try store.write {
      try $0.receiveRetraction(of: "m2", in: "room")
      try $0.delete("m3", in: "room")
      try $0.receive(Reaction("👍", from: "you", at: time(9)), to: "m4", in: "room")
      try $0.reconcile([], in: "room", within: .all)
      #expect(try $0.insert(message("m1", at: 1)) == .inserted)
      #expect(try $0.insert(message("m2", at: 2)) == .deleted)
      #expect(try $0.insert(message("m3", at: 3)) == .deleted)
      #expect(try $0.insert(message("m4", at: 4)) == .inserted)
      #expect(try $0.message("m4", in: "room")?.reactions == [])
    }
    #expect(try thread(store) == ["m1", "m4", "pending"])
    try store.expectSound()
  }

  @Test func aListByTheServersNamesKeepsWhatWasSentFromHere() throws {
    let store = try filled()
    try store.write {
      try $0.acknowledge(
        "pending", in: "room", serverTimestamp: time(6), sequence: nil, as: "server")
      let outcome = try $0.reconcile(
        [message("server", at: 6, from: "me")], in: "room", within: .all)
      #expect(outcome.removed.count == 5)
    }
    #expect(try thread(store) == ["pending"])
    try store.expectSound()
  }

  @Test func aListOfAConversationWithoutANameChangesNothing() throws {
    let store = try filled()
    let list = [message("m1", at: 1, text: "other"), message("new", at: 2)]
    #expect(throws: StoreError.input(.identifier(what: "conversation id", byteCount: 0))) {
      try store.write { try $0.reconcile(list, in: "", within: .all) }
    }
    #expect(try thread(store).count == 6)
  }

  @Test func aListThatSaysNothingNewCommitsNothing() throws {
    let store = try filled()
    let count = store.statistics.lastCommit
    let list = (1...5 as ClosedRange<Int64>).map { message(MessageID("m\($0)"), at: $0) }
    try store.write { _ = try $0.reconcile(list, in: "room", within: .all) }
    try store.write { _ = try $0.reconcile([], in: "nowhere", within: .all) }
    #expect(store.statistics.lastCommit == count)
  }

  @Test func aWholeThreadLeavesNoGaps() throws {
    let store = try memoryStore()
    try store.write {
      _ = try $0.reconcile(
        [message("a", at: 1, 1), message("b", at: 9, 9)], in: "room", within: .all)
    }
    #expect(try store.read { try $0.gaps(in: "room") } == [])
    try store.expectSound()
  }

  @Test(arguments: seeds(3)) func afterwardsTheRangeIsTheList(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<6 {
      let store = try memoryStore()
      var known: [Int: Int64] = [:]
      try store.write {
        for index in 0..<40 where random.chance(70) {
          let time = random.chance(20) ? nil : Int64.random(in: 0..<30, using: &random)
          if let time { known[index] = time }
          try $0.insert(message(MessageID("m\(index)"), at: time, from: time == nil ? "me" : "you"))
        }
        if random.chance(50) { try $0.markRead("room") }
      }
      for _ in 0..<4 {
        let from = Int64.random(in: 0..<30, using: &random)
        let range = from...Int64.random(in: from..<40, using: &random)
        let before = try store.read { try Array($0.thread("room").tail(1000)) }
        // Messages that are here keep their time; new ones have one in the range.
        var list: [Message] = []
        for index in 0..<60 where random.chance(30) {
          let time = known[index] ?? Int64.random(in: range, using: &random)
          guard range.contains(time),
            before.allSatisfy({ $0.id != MessageID("m\(index)") || $0.serverTimestamp != nil })
          else { continue }
          known[index] = time
          list.append(message(MessageID("m\(index)"), at: time))
        }
        list.shuffle(using: &random)
        let outcome = try store.write {
          try $0.reconcile(
            list, in: "room", within: .times(time(range.lowerBound)...time(range.upperBound)))
        }
        func isInRange(_ message: Message) -> Bool {
          message.serverTimestamp.map { range.contains($0.microseconds) } ?? false
        }
        let after = try store.read { try Array($0.thread("room").tail(1000)) }
        #expect(Set(after.filter(isInRange).map(\.id)) == Set(list.map(\.id)))
        #expect(after.filter { !isInRange($0) } == before.filter { !isInRange($0) })
        let gone = Set(before.map(\.id)).subtracting(after.map(\.id))
        #expect(Set(outcome.removed) == gone && outcome.removed.count == gone.count)
        for (index, _) in known where gone.contains(MessageID("m\(index)")) { known[index] = nil }
        try store.expectSound()
      }
    }
  }
}
