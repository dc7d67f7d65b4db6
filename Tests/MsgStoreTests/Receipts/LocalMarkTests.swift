import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What the local member marks: as read and as delivered, by name, up to a message, or everything.
struct LocalMarkTests {
  private func fill(_ store: MessageStore, _ count: Int) throws {
    try store.write { chat in
      for number in 0..<count {
        try chat.insert(
          message(
            MessageID("m\(number)"), at: Int64(number * 10), from: number % 3 == 2 ? "me" : "you"))
      }
    }
  }

  @Test func idsUpToAMessageOrEverythingCanBeMarkedAsRead() throws {
    let store = try groupStore()
    try fill(store, 10)
    #expect(try store.unread() == 7 && store.firstUnread() == "m0")
    #expect(try store.write { try $0.markRead(["m0", "m4", "m4", "m2", "none"], in: "room") })
    #expect(try store.unread() == 5 && store.firstUnread() == "m1")
    #expect(try store.write { try $0.markRead("room", upTo: "m6") })
    #expect(try store.unread() == 2 && store.firstUnread() == "m7")
    try store.expectSound()
    #expect(try store.write { try $0.markRead("room") })
    #expect(try store.unread() == 0)
    #expect(
      try store.read { try $0.thread("room").firstUnread(count: 3).ids } == ["m7", "m8", "m9"])
    try store.expectSound()
  }

  @Test func markingNothingNewChangesNothing() throws {
    let store = try groupStore()
    try fill(store, 10)
    try store.write { chat in
      try chat.markRead("room", upTo: "m6")
      try chat.markRead(["m8", "m7"], in: "room")
      try chat.markDelivered("room", upTo: "m6")
      try chat.markDelivered(["m7"], in: "room")
    }
    try store.write { chat throws in
      #expect(try !chat.markRead("room", upTo: "m6"))
      #expect(try !chat.markRead("room", upTo: "m3"))
      #expect(try !chat.markRead("room", upTo: "none"))
      // Never the local member's own, never twice, not what is not here.
      #expect(try !chat.markRead(["m7", "m1", "m2", "m8", "none"], in: "room"))
      #expect(try !chat.markDelivered("room", upTo: "m6"))
      #expect(try !chat.markDelivered("room", upTo: "m3"))
      #expect(try !chat.markDelivered(["m7", "m1", "m2", "none"], in: "room"))
      #expect(try !chat.markDelivered(["m1"], in: "unknown"))
    }
    try store.expectSound()
  }

  @Test func aLateMessageIsUnreadUntilItIsSeenAlsoByItsName() throws {
    let store = try groupStore()
    try fill(store, 10)
    try store.write { chat in
      try chat.markRead("room")
      try chat.insert(message("late1", at: 15))
      try chat.insert(message("late2", at: 35))
      try chat.insert(message("old", at: 5), as: .history)
    }
    #expect(try store.unread() == 2 && store.firstUnread() == "late1")
    #expect(try store.write { try $0.markRead(["late1"], in: "room") })
    #expect(try store.unread() == 1 && store.firstUnread() == "late2")
    // Another late one before those that were looked at.
    try store.write { try $0.insert(message("late0", at: 1)) }
    #expect(try store.firstUnread() == "late0")
    try store.expectSound()
    #expect(try store.write { try $0.markRead("room") })
    #expect(try store.unread() == 0)
    try store.expectSound()
  }

  @Test func aMarkFromAnotherDeviceCoversWhatLiesUpToItWheneverItComes() throws {
    let store = try groupStore()
    try fill(store, 10)
    #expect(try store.write { try $0.receive(receipt("me", .read, upTo: "m4")) })
    #expect(try store.unread() == 3 && store.firstUnread() == "m6")
    #expect(try !store.write { try $0.receive(receipt("me", .read, upTo: "m4")) })
    #expect(try store.write { try $0.receive(receipt("me", .read, upTo: "m3")) })
    #expect(try store.unread() == 3)
    // What comes late below it has been read as well.
    try store.write { try $0.insert(message("late", at: 15)) }
    #expect(try store.unread() == 3)
    // A mark made here covers less for what comes later, unless the other one lies behind it.
    try store.write { chat in
      try chat.markRead("room")
      try chat.insert(message("late2", at: 55))
      try chat.insert(message("late3", at: 25))
    }
    #expect(try store.unread() == 1 && store.firstUnread() == "late2")
    #expect(try store.write { try $0.receive(receipt("me", .read, upTo: "m7")) })
    #expect(try store.unread() == 0)
    #expect(try !store.write { try $0.markRead("room") })
    try store.expectSound()
  }

  @Test func aMarkUpToAMessageThatIsNotHereWaitsForIt() throws {
    let store = try groupStore()
    try fill(store, 3)
    #expect(try store.write { try $0.receive(receipt("me", .read, upTo: "m5", at: 7)) })
    #expect(try !store.write { try $0.receive(receipt("me", .read, upTo: "m5", at: 7)) })
    #expect(try store.unread() == 2)
    try store.write { try $0.insert(message("m5", at: 50)) }
    #expect(try store.unread() == 0)
    #expect(try store.readers("m5").map(\.member) == ["me"])
    #expect(try store.readers("m5").first?.readAt == time(7))
    try store.write { try $0.insert(message("m4", at: 40)) }
    #expect(try store.unread() == 0)
    // Receipts of exactly one message wait, too.
    try store.write { chat in
      try chat.receive(receipt("me", .read, ["m9"]))
      try chat.insert(message("m9", at: 90))
      try chat.insert(message("m8", at: 80))
    }
    #expect(try store.unread() == 1 && store.firstUnread() == "m8")
    try store.expectSound()
  }

  @Test func aMarkFollowsItsMessageWhenTheServerCorrectsItsPlace() throws {
    let store = try groupStore()
    try fill(store, 10)
    try store.write { try $0.receive(receipt("me", .read, upTo: "m7")) }
    #expect(try store.unread() == 1 && store.firstUnread() == "m9")
    try store.write { try $0.acknowledge("m7", in: "room", serverTimestamp: time(15)) }
    #expect(try store.unread() == 4 && store.firstUnread() == "m3")
    try store.expectSound()
  }

  @Test(arguments: [1000, 100_000])
  func markingManyMessagesIsOneSmallWrite(count: Int) throws {
    let store = try groupStore()
    try store.write(.relaxed) { chat in
      for number in 0..<count {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number), text: ""))
      }
    }
    try store.checkpoint()
    let before = store.statistics
    try store.write { _ = try $0.markRead("room") }
    #expect(try store.unread() == 0)
    #expect(store.statistics.walByteCount - before.walByteCount < 32 << 10)
  }

  @Test func receiptsOfALocalMemberWhoComesLaterCount() throws {
    let directory = MemoryDirectory()
    var store = try groupStore(directory, localMember: nil)
    try fill(store, 10)
    try store.write { chat in
      try chat.receive(receipt("me", .read, upTo: "m3"))
      try chat.receive(receipt("me", .read, ["m7"]))
      try chat.receive(receipt("you", .read, upTo: "m8"))
      try chat.receive(receipt("ann", .read, upTo: "m5"))
      try chat.receive(receipt("bob", .read, upTo: "m9"))
    }
    #expect(try store.unread() == 0 && store.status("m5") == .sent)
    try store.close()
    store = try memoryStore(directory)
    #expect(try store.unread() == 3 && store.firstUnread() == "m4")
    #expect(try store.status("m5") == .read && store.status("m8") == .sent)
    try store.expectSound()
  }

  @Test func unreadMentionsAreCountedBesideUnreadMessages() throws {
    let directory = MemoryDirectory()
    var store = try groupStore(directory, localMember: nil, packs: false)
    try fill(store, 10)
    try store.close()
    // The local member is "me", number 1; its name is known, but not that it is the local one.
    let database = try Database(in: directory, name: "store")
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    for (id, at) in [("m3", 30), ("m7", 70), ("m8", 80)] as [(MessageID, Int64)] {
      let position = MessagePosition(.acknowledged(at, sequence: nil), id)
      let key = KeyEncoding.key(1, position)
      let tree = BTree(transaction.source, TreeNumber(6))
      var value = ByteBuffer()
      #expect(try tree.value(of: key.bytes, appendTo: &value))
      var record = try #require(MessageRecord(value.bytes))
      var traits = MessageTraits()
      traits.mentions = [3, 1]
      var block = ByteBuffer()
      traits.append(to: &block)
      record.traitsBytes = block.bytes
      record.flags.insert(.traits)
      var new = ByteBuffer()
      record.append(to: &new)
      _ = try tree.insert(key.bytes, new.bytes)
    }
    transaction.source.leave()
    _ = try transaction.commit(.full)
    try database.close()
    store = try groupStore(directory)
    func mentions() throws -> Int? {
      try store.read { try $0.unreadMentionCount("room") }
    }
    // "m8" is the local member's own.
    #expect(try store.unread() == 7 && mentions() == 2)
    try store.expectSound()
    try store.write { _ = try $0.markRead("room", upTo: "m4") }
    #expect(try store.unread() == 3 && mentions() == 1)
    try store.write { _ = try $0.markRead(["m7"], in: "room") }
    #expect(try store.unread() == 2 && mentions() == 0)
    try store.expectSound()
  }

  /// Each fault counts, whether or not a local member is still to come.
  @Test func aMarkThatDisagreesWithTheSummaryIsFound() throws {
    let files = MemoryDirectory()
    let store = try memoryStore(files)
    try store.write { try $0.insert(message("m", at: 1)) }
    try store.expectSound()
    try store.close()
    var record = ReceiptRecord()
    record.read.join(MessagePosition(.acknowledged(5, sequence: nil), "x"), nil)
    var value = ByteBuffer()
    record.append(to: &value)
    let key = ReceiptKey.member(1, 1)
    let changed = try Cells(files).changed(
      [(key.bytes.array(), value.bytes.array())], in: Schema.conversations.rawValue)
    let findings = try memoryStore(changed).check().map(\.description)
    #expect(findings.contains { $0.contains("read mark disagrees with the summary") })
  }

  /// Counting relies on it: a conversation that gave out no local order has no pending messages.
  @Test func aLocalOrderThatWasNotGivenOutIsFound() throws {
    let files = MemoryDirectory()
    let store = try memoryStore(files)
    try store.write { try $0.insert(message("m", at: nil)) }
    try store.expectSound()
    try store.close()
    let tree = Schema.conversations.rawValue
    let cell = try #require(try Cells(files).all(tree).first { $0.key.count == 4 })
    var summary = try #require(Bytes.with(cell.value) { ConversationSummary($0) })
    #expect(summary.nextLocalOrder == 1)
    summary.nextLocalOrder = 0
    var value = ByteBuffer()
    summary.append(to: &value)
    let changed = try Cells(files).changed([(cell.key, value.bytes.array())], in: tree)
    let findings = try memoryStore(changed).check().map(\.description)
    #expect(findings.contains { $0.contains("local order 0 is not below the next one (0)") })
  }
}
