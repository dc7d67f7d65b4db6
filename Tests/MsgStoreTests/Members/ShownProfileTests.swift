import MsgStore
import PageFile
import Testing

/// Names and pictures that come with messages and conversations.
struct ShownProfileTests {
  private func named(_ id: MemberID, _ name: String, _ version: Int64 = 1) -> MemberProfile {
    MemberProfile(of: id, name: name, version: version)
  }

  private func names(_ slice: MessageSlice) -> [String?] { slice.map { $0.senderProfile?.name } }

  @Test(arguments: [false, true]) func messagesComeWithTheNamesOfTheirAuthors(packs: Bool) throws {
    let store = try memoryStore(MemoryDirectory(), packs: packs)
    try store.write { chat throws in
      for number in 0..<200 as Range<Int64> {
        try chat.insert(
          message(MessageID("m\(number)"), at: number + 1, from: number % 3 == 0 ? "ann" : "bob"))
      }
      #expect(try chat.thread("room").tail(3).allSatisfy { $0.senderProfile == nil })
      try chat.receive(named("ann", "Ann"))
    }
    try store.read { chat throws in
      let thread = try chat.thread("room")
      #expect(names(try thread.tail(3)) == [nil, "Ann", nil])
      #expect(try chat.message("m0", in: "room")?.senderProfile == named("ann", "Ann"))
      #expect(try chat.message("m1")?.senderProfile == nil)
      #expect(names(try thread.around("m99", count: 3)) == [nil, "Ann", nil])
    }
    let old = try store.read { try $0.thread("room").tail(1)[0] }
    try store.write { chat throws in
      try chat.receive(named("bob", "Bob"))
      #expect(names(try chat.thread("room").tail(3)) == ["Bob", "Ann", "Bob"])
    }
    let new = try store.read { try $0.thread("room").tail(1)[0] }
    // The name is the member's and no part of the message.
    #expect(old == new && old.senderProfile == nil && new.senderProfile?.name == "Bob")
    var changed = new
    changed.sender = "eve"
    #expect(changed.senderProfile == nil)
    try store.write { chat in _ = try chat.forgetMember("ann") }
    #expect(names(try store.read { try $0.thread("room").tail(3) }) == ["Bob", nil, "Bob"])
  }

  /// A slice keeps the numbers of some authors at hand, and meets the others again.
  @Test func thousandsOfAuthorsHaveTheirNames() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for number in 0..<400 as Range<Int64> {
        let member = MemberID("p\(number % 150)")
        try chat.insert(message(MessageID("m\(number)"), at: number + 1, from: member))
        if number % 150 % 2 == 0 { try chat.receive(named(member, "P\(number % 150)")) }
      }
    }
    let slice = try store.read { try $0.thread("room").tail(400) }
    for message in slice {
      let id = message.sender.string
      let isEven = (Int(id.dropFirst()) ?? 1) % 2 == 0
      #expect(message.senderProfile?.name == (isEven ? "P" + id.dropFirst() : nil))
    }
  }

  @Test func untitledConversationsComeWithTheNamesOfTheirMembers() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      _ = try chat.createGroup("club", participants: ["ann", "bob"])
      _ = try chat.createGroup("titled", participants: ["ann", "bob"], title: "Title")
      for (room, sender) in [("titled", "bob"), ("club", "eve")] as [(ConversationID, MemberID)] {
        try chat.insert(
          Message(id: "m", in: room, from: sender, text: "hi", serverTimestamp: time(10)))
      }
      for id in ["ann", "bob", "eve"] as [MemberID] { try chat.receive(named(id, "\(id)!")) }
    }
    try store.read { chat throws in
      let list = try chat.conversations(count: 5)
      let club = try #require(list.first { $0.id == "club" })
      #expect(club.profile(of: "ann")?.name == "ann!" && club.profile(of: "bob")?.name == "bob!")
      // She has only written here.
      #expect(club.profile(of: "eve")?.name == "eve!" && club.profile(of: "zoe") == nil)
      let titled = try #require(list.first { $0.id == "titled" })
      #expect(titled.profile(of: "bob")?.name == "bob!" && titled.profile(of: "ann") == nil)
      #expect(try chat.conversation("club") == club)
    }
  }

  @Test func profilesBeyondTheLimitStayBehind() throws {
    let store = try memoryStore()
    let members = (0..<20).map { MemberID("p\($0)") }
    try store.write { chat throws in
      try chat.receive(
        ReceivedConversation("room", at: time(5)) { $0.members = members.map { .init($0) } })
      for id in members { try chat.receive(named(id, "\(id)!")) }
    }
    let room = try #require(try store.read { try $0.conversation("room") })
    let limit = Conversation.maximumProfiledParticipantCount
    #expect(
      room.participants.map { room.profile(of: $0) != nil }
        == (0..<20).map { $0 < limit })
  }

  @Test func liveValuesFollowNames() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      _ = try chat.createGroup("room", participants: ["ann", "bob"])
      try chat.insert(message("m", at: 1, from: "ann"))
      try chat.insert(message("n", at: 2, from: "bob"))
    }
    var thread = store.thread("room").live(newest: 5).makeAsyncIterator()
    var list = store.conversations.live(newest: 5).makeAsyncIterator()
    var room = store.conversations.live("room").makeAsyncIterator()
    _ = (try thread.nextIfThere(), try list.nextIfThere(), try room.nextIfThere())

    try store.write { chat in _ = try chat.receive(named("ann", "Ann")) }
    let value = try #require(try thread.nextIfThere())
    #expect(value.differences.changed == [0] && names(value.slice) == ["Ann", nil])
    #expect(try list.nextIfThere()?.differences.changed == [0])
    #expect(try room.nextIfThere()??.profile(of: "ann")?.name == "Ann")

    // Nobody whom these values show.
    try store.write { chat in _ = try chat.receive(named("zoe", "Zoe")) }
    #expect(try thread.nextIfThere() == nil && list.nextIfThere() == nil)
    #expect(try room.nextIfThere() == nil)

    try store.write { chat throws in
      _ = try chat.forgetMember("ann")
      try chat.receive(named("bob", "Bob"))
    }
    let last = try #require(try thread.nextIfThere())
    #expect(last.differences.changed == [0, 1] && names(last.slice) == [nil, "Bob"])
    #expect(try list.nextIfThere()?.conversations[0].profile(of: "ann") == nil)
  }

  @Test func aTaskThatMakesAConversationHasThemToo() throws {
    let store = try TestClock().outboxStore()
    try store.write { chat throws in
      for id in ["ann", "bob"] as [MemberID] { try chat.receive(named(id, "\(id)!")) }
      _ = try chat.createGroup("club", participants: ["ann", "bob"])
    }
    guard case .createConversation(let group) = try store.take().task else {
      Issue.record("another task")
      return
    }
    #expect(group.profile(of: "ann")?.name == "ann!" && group.profile(of: "bob")?.name == "bob!")
  }
}
