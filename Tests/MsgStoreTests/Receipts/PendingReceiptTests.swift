import MsgStore
import PageFile
import Testing

/// What still has to go to the server.
struct PendingReceiptTests {
  private func filled(_ count: Int) throws -> MessageStore {
    let store = try groupStore()
    try store.write { chat in
      for number in 0..<count {
        try chat.insert(
          message(
            MessageID("m\(number)"), at: Int64(number * 10), from: number % 5 == 4 ? "me" : "you"))
      }
    }
    return store
  }

  private func confirm(_ store: MessageStore, _ pending: PendingReceipt) throws -> Bool {
    try store.write { try $0.confirm(pending) }
  }

  @Test func aMarkIsTheRangeFromTheLastConfirmedOne() throws {
    let store = try filled(20)
    #expect(try store.pending(.read, as: .mark).isEmpty && store.pendingRooms(.read).isEmpty)
    try store.write { try $0.markRead("room", upTo: "m7") }
    #expect(try store.pendingRooms(.read) == ["room"] && store.pendingRooms(.delivered) == [])
    let first = try store.pending(.read, as: .mark)
    #expect(first.count == 1 && first[0].after == nil && first[0].upToID == "m7")
    #expect(first[0].ids.isEmpty)
    // What is marked meanwhile stays to be told.
    try store.write { try $0.markRead("room", upTo: "m12") }
    #expect(try confirm(store, first[0]))
    #expect(try !confirm(store, first[0]))
    let second = try store.pending(.read, as: .mark)
    #expect(second[0].after?.id == "m7" && second[0].upToID == "m12")
    #expect(try confirm(store, second[0]))
    #expect(try store.pending(.read, as: .mark).isEmpty && store.pendingRooms(.read).isEmpty)
    try store.expectSound()
  }

  @Test func idsComeInBatchesEachConfirmedOnItsOwn() throws {
    let store = try filled(1300)
    try store.write { try $0.markRead("room") }
    let batches = try store.pending(.read, as: .ids())
    #expect(batches.map(\.ids.count) == [500, 500, 40])
    #expect(!batches.contains { $0.ids.contains("m4") || $0.ids.contains("m1299") })
    // The second one first.
    #expect(try confirm(store, batches[1]))
    let rest = try store.pending(.read, as: .ids())
    #expect(Set(rest.flatMap(\.ids)) == Set(batches[0].ids + batches[2].ids))
    #expect(rest.flatMap(\.ids).count == 540)
    try store.expectSound()
    #expect(try confirm(store, batches[0]))
    #expect(try store.pending(.read, as: .ids()).map(\.ids) == [batches[2].ids])
    #expect(try confirm(store, batches[2]))
    #expect(try store.pending(.read, as: .ids()).isEmpty && store.pendingRooms(.read).isEmpty)
    try store.expectSound()
    #expect(throws: StoreError.input(.outOfRange(.receiptIDs, 501, allowed: 1...500))) {
      try store.pending(.read, as: .ids(maximumCount: 501))
    }
    #expect(throws: StoreError.input(.outOfRange(.receiptIDs, 0, allowed: 1...500))) {
      try store.pending(.read, as: .ids(maximumCount: 0))
    }
  }

  @Test func whatWasMarkedByNameIsToldByName() throws {
    let store = try filled(10)
    try store.write { try $0.markRead(["m1", "m8", "m4"], in: "room") }
    #expect(try store.pending(.read, as: .mark).map(\.ids) == [["m1", "m8"]])
    try store.write { try $0.markRead("room", upTo: "m5") }
    // The range covers "m1".
    let pending = try store.pending(.read, as: .mark)
    #expect(pending.map(\.ids) == [["m8"]] && pending[0].upToID == "m5")
    #expect(
      try store.pending(.read, as: .ids()).map(\.ids)
        == [["m1", "m8"], ["m0", "m2", "m3", "m5"]])
    #expect(try confirm(store, pending[0]))
    #expect(try store.pending(.read, as: .ids()).isEmpty)
    try store.expectSound()
  }

  @Test func aLateMessageIsToldOnceItHasBeenSeen() throws {
    let store = try filled(10)
    for kind in ReceiptKind.allCases {
      try store.write { chat in
        _ = kind == .read ? try chat.markRead("room") : try chat.markDelivered("room")
      }
      for pending in try store.pending(kind, as: .mark) { _ = try confirm(store, pending) }
      let late = MessageID("late \(kind)")
      try store.write { try $0.insert(message(late, at: 15)) }
      #expect(try store.pending(kind, as: .mark).isEmpty && store.pendingRooms(kind).isEmpty)
      try store.write { chat throws in
        #expect(try kind == .read ? chat.markRead("room") : chat.markDelivered("room"))
      }
      #expect(try store.pendingRooms(kind) == ["room"])
      let mark = try store.pending(kind, as: .mark)
      #expect(mark.map(\.ids) == [[late]] && mark[0].upTo == nil)
      #expect(try store.pending(kind, as: .ids()).map(\.ids) == [[late]])
      try store.expectSound()
      #expect(try confirm(store, mark[0]))
      #expect(try store.pendingRooms(kind).isEmpty)
    }
    try store.expectSound()
  }

  @Test func whatTheServerKnowsIsNotToldAgain() throws {
    let store = try filled(20)
    try store.write { chat in
      try chat.markRead("room", upTo: "m10")
      try chat.markRead(["m12", "m18"], in: "room")
    }
    try store.write { try $0.receive(receipt("me", .read, upTo: "m15")) }
    #expect(try store.pending(.read, as: .mark).map(\.ids) == [["m18"]])
    try store.write { try $0.receive(receipt("me", .read, ["m18"])) }
    #expect(try store.pending(.read, as: .mark).isEmpty && store.pendingRooms(.read).isEmpty)
    try store.write { try $0.markRead("room") }
    #expect(try store.pending(.read, as: .mark)[0].after?.id == "m15")
    #expect(try store.pending(.read, as: .ids()).map(\.ids) == [["m16", "m17"]])
    try store.expectSound()
  }

  @Test func deliveredHasAMarkLikeRead() throws {
    let store = try filled(10)
    try store.write { chat throws in
      #expect(try chat.markDelivered(["m7"], in: "room"))
      #expect(try chat.markDelivered("room", upTo: "m5"))
    }
    #expect(try store.pendingRooms(.delivered) == ["room"] && store.pendingRooms(.read) == [])
    #expect(try store.unread() == 8)
    let batches = try store.pending(.delivered, as: .ids(maximumCount: 3))
    #expect(batches.map(\.ids) == [["m7"], ["m0", "m1", "m2"], ["m3", "m5"]])
    for batch in batches { #expect(try confirm(store, batch)) }
    #expect(try store.pendingRooms(.delivered).isEmpty)
    #expect(try store.write { try $0.markDelivered("room") })
    #expect(try store.pending(.delivered, as: .ids()).map(\.ids) == [["m6", "m8"]])
    #expect(try store.readers("m7").first?.deliveredAt == time(1_000_000))
    try store.expectSound()
  }

  @Test func nothingHasToBeToldOfAConversationThatTheLocalMemberHasLeft() throws {
    let store = try filled(10)
    try store.write { try $0.markRead("room") }
    try store.write { try $0.putConversation("room", participants: ["you", "ann"]) }
    #expect(try store.pending(.read, as: .mark).isEmpty && store.pendingRooms(.read).isEmpty)
    try store.expectSound()
    try store.write { try $0.putConversation("room", participants: ["you", "me"]) }
    #expect(try store.pendingRooms(.read) == ["room"])
    try store.expectSound()
  }

  @Test func ownMessagesAndHistoryHaveNothingToTell() throws {
    let store = try groupStore()
    try store.write { chat in
      try chat.insert(message("old", at: 1), as: .history)
      try chat.insert(message("mine", at: 2, from: "me"))
      try chat.markRead("room")
      try chat.markDelivered("room")
    }
    #expect(try store.pendingRooms(.read).isEmpty && store.pendingRooms(.delivered).isEmpty)
    try store.expectSound()
  }

  @Test func aLateMessageThatIsDeletedUnreadIsNotTold() throws {
    let store = try filled(3)
    try store.write { chat in
      try chat.markRead("room")
      try chat.markDelivered("room")
    }
    for kind in ReceiptKind.allCases {
      for pending in try store.pending(kind, as: .mark) { _ = try confirm(store, pending) }
    }
    try store.write { chat in
      try chat.insert(message("late", at: 5))
      try chat.insert(message("kept", at: 6))
      try chat.delete("late", in: "room")
      try chat.markRead("room")
      try chat.markDelivered("room")
    }
    for kind in ReceiptKind.allCases {
      #expect(try store.pending(kind, as: .mark).flatMap(\.ids) == ["kept"])
    }
    try store.expectSound()
  }

  @Test func aRangeWithoutMessagesIsConfirmedLikeAnyOther() throws {
    let store = try filled(3)
    try store.write { chat in
      try chat.markRead("room")
      for id in ["m0", "m1", "m2"] as [MessageID] { try chat.delete(id, in: "room") }
    }
    let pending = try store.pending(.read, as: .ids())
    #expect(pending.map(\.ids) == [[]] && pending[0].upToID == "m2")
    #expect(try confirm(store, pending[0]))
    #expect(try store.pendingRooms(.read).isEmpty)
    try store.expectSound()
  }

  @Test func whatHasToBeToldOutlivesTheProcess() throws {
    let directory = MemoryDirectory()
    var store = try groupStore(directory)
    try store.write { chat in
      try chat.insert(message("m1", at: 1))
      try chat.markRead("room")
    }
    try store.close()
    store = try memoryStore(directory)
    #expect(try store.pendingRooms(.read) == ["room"])
    #expect(try store.pending(.read, as: .mark).first?.upToID == "m1")
  }
}
