import MsgStore
import Testing

/// The list of conversations, what it shows, and finding one by who takes part.
struct ConversationTests {
  @Test func participantsFindTheirConversationInAnyOrder() throws {
    let store = try memoryStore()
    let ids = try store.write { chat in
      let room = try chat.findOrCreateConversation(with: ["ann", "bob"])
      #expect(room.participants == ["ann", "bob", "me"])
      #expect(room.messageCount == 0 && room.preview == nil && room.lastActivity == nil)
      #expect(try chat.findOrCreateConversation(with: ["bob", "me", "ann", "bob"]).id == room.id)
      let other = try chat.findOrCreateConversation(with: ["ann"])
      #expect(other.id != room.id)
      return (room.id, other.id)
    }
    try store.write { chat in
      #expect(try chat.findOrCreateConversation(with: ["me", "ann", "bob"]).id == ids.0)
      // Who leaves is no longer found with the others.
      try chat.putConversation(ids.0, participants: ["me", "bob"], title: "two")
      #expect(try chat.conversation(ids.0)?.participants == ["bob", "me"])
      #expect(try chat.formerMembers(of: ids.0) == ["ann"])
      #expect(try chat.conversation(ids.0)?.title == "two")
      // A group of two is no direct conversation.
      #expect(try chat.findOrCreateConversation(with: ["bob"]).id != ids.0)
      #expect(try chat.findOrCreateConversation(with: ["ann", "bob"]).id != ids.0)
    }
    try store.expectSound()
  }

  @Test func theListGoesByActivity() throws {
    let store = try memoryStore(clock: 50)
    try store.write { chat in
      for (index, at) in [10, 99, 20].enumerated() {
        try chat.insert(
          Message(
            in: ConversationID("c\(index)"), from: "you", text: "x",
            serverTimestamp: time(Int64(at))))
      }
      try chat.putConversation("empty", participants: [])
      #expect(try chat.conversations(count: 9).map(\.id) == ["c1", "empty", "c2", "c0"])
      // A pending message counts with its local time.
      try chat.insert(Message(in: "c0", from: "me", text: "y", localTime: time(60)))
      #expect(try chat.conversations(count: 2).map(\.id) == ["c1", "c0"])
      #expect(try chat.conversations(count: 2).older != nil)
      #expect(try chat.conversations(count: 4).older == nil)
    }
    let order = try store.read { chat in
      var ids: [String] = []
      try chat.forEachConversation { ids.append($0.id.string) }
      return ids
    }
    #expect(order == ["c0", "c1", "c2", "empty"])
    try store.expectSound()
  }

  @Test func previewsFollowTheLastMessage() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m1", at: 1, text: "one"))
      try chat.insert(message("m2", at: 2, text: "two"))
      try chat.insert(message("p", at: nil, from: "me", local: 9, text: "waits"))
      #expect(try chat.conversation("room")?.preview?.text == "waits")
      #expect(try chat.conversation("room")?.lastActivity == time(9))
      try chat.setStatus(.failed, of: "p", in: "room")
      #expect(try chat.conversation("room")?.preview?.status == .failed)
      try chat.acknowledge("p", in: "room", serverTimestamp: time(0))
      let preview = try chat.conversation("room")?.preview
      #expect(preview?.text == "two" && preview?.serverTimestamp == time(2))
      #expect(try chat.conversation("room")?.lastActivity == time(2))
      #expect(try chat.message("p", in: "room")?.status == .sent)
      #expect(try chat.message("p", in: "room")?.localTime == time(9))
      try chat.delete("m2", in: "room")
      try chat.delete("m1", in: "room")
      #expect(try chat.conversation("room")?.preview?.messageID == "p")
      try chat.delete("p", in: "room")
      #expect(try chat.conversation("room")?.preview == nil)
      #expect(try chat.conversation("room")?.messageCount == 0)
    }
    try store.expectSound()
  }

  @Test func theServersCopyAcknowledgesAPendingMessage() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: nil, from: "me", local: 3, text: "mine"))
      let copy = Message(
        id: "m", in: "room", from: "me", text: "theirs", serverTimestamp: time(8), sequence: 4,
        status: .delivered)
      #expect(try chat.insert(copy) == .acknowledged)
      #expect(try chat.insert(copy) == .duplicate)
      let stored = try #require(try chat.message("m", in: "room"))
      #expect(stored.text == "theirs" && stored.localTime == time(3))
      #expect(stored.serverTimestamp == time(8) && stored.sequence == 4)
      #expect(stored.status == .delivered)
      #expect(try !chat.acknowledge("none", in: "room", serverTimestamp: time(1)))
      #expect(try !chat.setStatus(.failed, of: "none", in: "room"))
      #expect(try !chat.delete("none", in: "nowhere"))
    }
    try store.expectSound()
  }

  struct TwoPlaces: Sendable {
    let first: (Int64, Int64?)
    let second: (Int64, Int64?)
    let result: (Int64, Int64?)
  }

  static let twoPlaces = [
    // What was nil is filled.
    TwoPlaces(first: (5, nil), second: (5, 9), result: (5, 9)),
    TwoPlaces(first: (5, 9), second: (5, nil), result: (5, 9)),
    TwoPlaces(first: (4, nil), second: (5, 9), result: (4, 9)),
    TwoPlaces(first: (5, 9), second: (4, nil), result: (4, 9)),
    // The smaller place wins.
    TwoPlaces(first: (5, 9), second: (4, 11), result: (4, 11)),
    TwoPlaces(first: (4, 11), second: (5, 9), result: (4, 11)),
    TwoPlaces(first: (4, 11), second: (4, 9), result: (4, 9)),
  ]

  @Test(arguments: twoPlaces) func twoAcknowledgementsAgree(_ places: TwoPlaces) throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: nil, from: "me"))
      try chat.acknowledge(
        "m", in: "room", serverTimestamp: time(places.first.0), sequence: places.first.1)
      try chat.acknowledge(
        "m", in: "room", serverTimestamp: time(places.second.0), sequence: places.second.1)
      let stored = try #require(try chat.message("m", in: "room"))
      #expect(stored.serverTimestamp == time(places.result.0))
      #expect(stored.sequence == places.result.1)
    }
    try store.expectSound()
  }
}
