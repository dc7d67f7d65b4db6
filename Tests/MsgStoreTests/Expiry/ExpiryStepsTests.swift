import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The steps in which counters let expired messages go, and take them back.
struct ExpiryStepsTests {
  private let clock = TestClock(1000)

  private func unread(_ store: MessageStore) throws -> Int {
    try store.read { try $0.conversation("room")?.unreadCount } ?? 0
  }

  @Test(arguments: [true, false]) func manyOfOneMomentAreLetGoInBoundedSteps(packs: Bool) throws {
    let store = try expiringStore(clock, packs: packs) {
      $0.steps = StepSizes(maximumSweepCount: 30)
    }
    try store.write { chat throws in
      for index in 0..<200 {
        try chat.insert(
          expiring(MessageID("m\(index)"), at: 10, until: index % 4 == 0 ? nil : 2000))
      }
      try chat.insert(message("last", at: 11))
    }
    clock.set(2000)
    var count = try unread(store)
    #expect(count == 201)
    for _ in 0..<4 {
      try store.write { try $0.doWork() }
      let next = try unread(store)
      #expect(count - next == 30)
      count = next
      try store.expectSound()
    }
    // The border lies among the messages of the one moment, and goes back from there.
    clock.set(1500)
    for _ in 0..<9 where count < 201 {
      try store.write { try $0.doWork() }
      let next = try unread(store)
      #expect((1...30).contains(next - count))
      count = next
      try store.expectSound()
    }
    #expect(count == 201)
    #expect(try store.shownIDs().count == 201)
    clock.set(2100)
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 2050)) }
    for _ in 0..<12 {
      try store.write { try $0.doWork() }
      try store.expectSound()
    }
    clock.set(1500)
    #expect(try store.shownIDs().count == 51)
    #expect(try unread(store) == 51)
    #expect(try store.read { try $0.nextExpiry } == nil)
    try store.close()
  }

  @Test func aMessageThatComesBehindTheBorderIsLetGoAtOnce() throws {
    let store = try expiringStore(clock) { $0.steps = StepSizes(maximumSweepCount: 2) }
    try store.write { chat throws in
      for index in 1...5 { try chat.insert(expiring(MessageID("m\(index)"), at: 10, until: 2000)) }
    }
    clock.set(2000)
    try store.write { try $0.doWork() }
    #expect(try unread(store) == 3)
    try store.write { chat throws in
      try chat.insert(expiring("m0", at: 10, until: 2000))
      try chat.insert(expiring("m9", at: 10, until: 2000))
    }
    #expect(try unread(store) == 4)
    try store.expectSound()
    try store.finishWork()
    #expect(try unread(store) == 0)
    try store.expectSound()
    try store.close()
  }

  /// The border of what was let go stays when the last entry gets another time.
  @Test func anEarlierTimeOfTheLastOneThatExpiresIsTakenBackWithTheClock() throws {
    let clock = TestClock(2000)
    let store = try expiringStore(clock)
    try store.write { chat throws in
      try chat.insert(expiring("a", at: 1, until: 1900))
      try chat.insert(expiring("b", at: 2, until: 2900))
    }
    try store.finishWork()
    clock.set(1000)
    try store.write { chat throws in
      try chat.insert(expiring("b", at: 2, until: 1800))
      try chat.delete("a", in: "room")
    }
    try store.finishWork()
    #expect(try store.shownIDs() == ["b"])
    #expect(try store.read { try $0.conversation("room")?.unreadCount } == 1)
    try store.expectSound()
    // With no other one there, all at once.
    clock.set(2000)
    try store.finishWork()
    clock.set(1000)
    try store.write { try $0.receiveExpiry(of: "b", in: "room", at: time(1700)) }
    try store.finishWork()
    #expect(try store.shownIDs() == ["b"])
    #expect(try store.read { try $0.conversation("room")?.unreadCount } == 1)
    try store.expectSound()
    try store.close()
  }

  /// A message that may have left the device is looked at again a minute later, or after the clock was
  /// set back, and then not before another minute has passed.
  @Test(arguments: [60_002_100, 2050] as [Int64]) func whatIsOnItsWayIsLookedAtOnceAMinute(
    later: Int64
  ) throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      for index in 0..<3 {
        clock.set(1000 + Int64(index))
        try chat.send(expiring(MessageID("p\(index)"), at: nil, from: "me", until: 2000))
        try chat.insert(expiring(MessageID("m\(index)"), at: 5, until: 2000))
      }
      #expect(try chat.outbox.next(for: "w", maximumCount: 3).count == 3)
    }
    clock.set(2100)
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 2050)) }
    for time in [2100, later, later + 1] {
      clock.set(time)
      #expect(try store.finishWork(maximumStepCount: 9), "at \(time)")
      #expect(try !store.commits { try $0.doWork() }, "at \(time)")
    }
    #expect(try store.read { try $0.outbox.counts().running } == 3)
    try store.expectSound()
    try store.close()
  }

  /// Steps that may change only so much get ahead beside messages that are on their way.
  @Test(arguments: [1, 2, 3]) func stepsGetAheadBesideWhatIsOnItsWay(maximumCount: Int) throws {
    let store = try expiringStore(clock) {
      $0.steps = StepSizes(maximumSweepCount: maximumCount)
    }
    try store.write { chat throws in
      for index in 0..<7 {
        let end: Int64 = index % 2 == 0 ? 2000 : 1999
        try chat.send(expiring(MessageID("p\(index)"), at: nil, from: "me", until: end))
      }
      #expect(try chat.outbox.next(for: "w", maximumCount: 4).count == 4)
      for index in 0..<7 { try chat.insert(expiring(MessageID("m\(index)"), at: 5, until: 2000)) }
    }
    clock.set(2100)
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 2050)) }
    #expect(try store.finishWork(maximumStepCount: 60))
    clock.set(1500)
    try store.expectSound()
    #expect(try store.shownIDs() == ["p0", "p1", "p2", "p3"])
    #expect(try store.read { try $0.outbox.counts().total } == 4)
    try store.close()
  }

  @Test func aResumedStoreLetsThemGo() throws {
    let store = try expiringStore(clock) { $0.worksInBackground = true }
    try store.write { chat throws in
      try chat.insert(expiring("a", at: 1, until: 2000))
      try chat.insert(message("b", at: 2))
    }
    try store.suspend(checkpoints: true)
    clock.set(2000)
    try store.resume()
    #expect(try store.shownIDs() == ["b"])
    for _ in 0..<500 where try unread(store) != 1 { Thread.sleep(forTimeInterval: 0.02) }
    #expect(try unread(store) == 1)
    try store.expectSound()
    try store.close()
  }

  @Test func retentionDoesNotCountThem() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      for index in 1...8 as ClosedRange<Int64> {
        try chat.insert(
          expiring(MessageID("m\(index)"), at: index, index, until: index == 2 ? 2000 : nil))
      }
      try chat.receiveTag(.starred, of: "m1", in: "room", at: time(13))
      try chat.receiveTag(.starred, of: "m2", in: "room", at: time(13))
      try chat.markRead("room")
    }
    clock.set(2000)
    try store.finishWork()
    try store.write { chat in try chat.setRetention(Retention(messageCount: 3), of: "room") }
    try store.finishWork()
    #expect(try store.read { try $0.thread("room").tail(9).ids } == ["m6", "m7", "m8"])
    // The spared one lies before the pruned part.
    #expect(try store.read { try $0.conversation("room")?.messageCount } == 4)
    try store.expectSound()
    try store.close()
  }
}
