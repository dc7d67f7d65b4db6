import MsgStore
import PageFile
import Testing

/// Deleting messages for the local member.
struct DeletionTests {
  @Test func aDeletedMessageStaysAwayWhenItIsDeliveredAgain() throws {
    let directory = MemoryDirectory()
    var store = try memoryStore(directory)
    try store.write { chat in
      try chat.insert(message("m", at: 5, 1))
      try chat.insert(message("n", at: 6, 2))
      #expect(try chat.delete("n", in: "room"))
      #expect(try !chat.delete("n", in: "room"))
    }
    try store.close()
    store = try memoryStore(directory)
    try store.write { chat in
      let outcome = try chat.insert(message("n", at: 6, 2))
      #expect(outcome == .deleted)
      #expect(try !chat.acknowledge("n", in: "room", serverTimestamp: time(6)))
      #expect(try !chat.setStatus(.read, of: "n", in: "room"))
      #expect(try !chat.receiveEdit(of: "n", in: "room", text: "x", at: time(9)))
      #expect(try !chat.receiveRetraction(of: "n", in: "room"))
      #expect(try !chat.receive(Reaction("👍", from: "ann", at: time(1)), to: "n", in: "room"))
    }
    #expect(try store.tail == ["m"])
    let room = try #require(try store.read { try $0.conversation("room") })
    #expect(room.messageCount == 1 && room.unreadCount == 1 && room.preview?.messageID == "m")
    #expect(room.lastActivity == time(5))
    try store.expectSound()
  }

  @Test func aDeletedPendingMessageDoesNotComeBackAsTheServersCopy() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.send(own("m"))
      try chat.delete("m", in: "room")
      #expect(try chat.insert(message("m", at: 5, from: "me")) == .deleted)
      #expect(try !chat.acknowledge("m", in: "room", serverTimestamp: time(5), as: "s"))
      #expect(try chat.insert(message("s", at: 5, from: "me")) == .deleted)
    }
    #expect(try store.tail == [])
    try store.expectSound()
  }

  /// Also those that were learned while it was not here yet.
  @Test(arguments: ["m", "t"] as [MessageID])
  func whatWaitsIsDeletedUnderAllItsNames(_ known: MessageID) throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.acknowledge("m", in: "room", serverTimestamp: time(5), as: "t")
      try chat.receiveEdit(of: "t", in: "room", text: "new", at: time(9))
      try chat.insert(message("s", at: 5))
      try chat.delete("s", in: "room")
      #expect(try !chat.acknowledge(known, in: "room", serverTimestamp: time(5), as: "s"))
      for name in ["m", "s", "t"] as [MessageID] {
        #expect(try chat.insert(message(name, at: 5)) == .deleted)
      }
    }
    #expect(try store.read { try $0.waitingFacts.waiting } == 0)
    try store.expectSound()
  }

  @Test func aTombstoneCanBeDeletedToo() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 5))
      try chat.receiveRetraction(of: "m", in: "room")
      #expect(try chat.delete("m", in: "room"))
      #expect(try chat.insert(message("m", at: 5)) == .deleted)
      #expect(try chat.conversation("room")?.preview == nil)
    }
    try store.expectSound()
  }
}
