import MsgStore
import PageFile
import Testing

/// What the local member changes about a conversation, and what the server says of it.
struct ConversationAttributesTests {
  private func group(_ chat: borrowing StoreWriter) throws -> ConversationID {
    try chat.createGroup("g", participants: ["ann", "bob"], title: "Group").id
  }

  @Test func participantsJoinAndLeave() throws {
    let store = try memoryStore(clock: TestClock(100))
    try store.write { chat in
      let id = try group(chat)
      try chat.insert(chatMessage("newest", in: id, at: 200))
      #expect(try chat.addParticipants(["cid", "ann"], to: id))
      #expect(try !chat.addParticipants(["cid"], to: id))
      #expect(try chat.conversation(id)?.participants == ["ann", "bob", "me", "cid"])
      #expect(try chat.removeParticipants(["ann", "zoe"], from: id))
      #expect(try !chat.removeParticipants(["ann"], from: id))
      let room = try #require(try chat.conversation(id))
      #expect(room.participants == ["bob", "me", "cid"])
      #expect(try chat.formerMembers(of: id) == ["ann"])
      #expect(room.participantCount == 3)
      let all = try chat.participations(in: id)
      #expect(all.first { $0.member == "cid" }?.joinedAt == time(201))
      #expect(all.first { $0.member == "bob" }?.joinedAt == nil)
      #expect(all.first { $0.member == "ann" }?.isActive == false)
      // Who comes back is the last to have come.
      #expect(try chat.addParticipants(["ann"], to: id))
      #expect(try chat.conversation(id)?.participants == ["bob", "me", "cid", "ann"])
    }
    try store.expectSound()
  }

  @Test func oneThatILeftStaysReadableAndIsMarked() throws {
    let store = try memoryStore()
    try store.write { chat in
      let id = try group(chat)
      try chat.insert(chatMessage("m", in: id, at: 1))
      #expect(try chat.conversation(id)?.isMember == true)
      #expect(try chat.leave(id))
      #expect(try !chat.leave(id))
    }
    try store.read { chat in
      let room = try #require(try chat.conversations(count: 1).first)
      #expect(!room.isMember && room.participants == ["ann", "bob"])
      #expect(try chat.formerMembers(of: "g") == ["me"])
      #expect(try chat.thread("g").tail(5).ids == ["m"])
    }
    let acts: [(borrowing StoreWriter) throws -> Void] = [
      { try $0.setTitle("x", of: "g") }, { try $0.setAvatar("x", of: "g") },
      { try $0.addParticipants(["cid"], to: "g") },
      { try $0.removeParticipants(["ann"], from: "g") },
    ]
    for act in acts {
      #expect(throws: StoreError.conversation(.notAMember, "g")) { try store.write { try act($0) } }
    }
    // How one keeps it is one's own affair.
    #expect(try store.write { try $0.setArchived(true, of: "g") })
    try store.expectSound()
  }

  @Test func nobodyJoinsOrLeavesADirectConversation() throws {
    let store = try memoryStore()
    try store.write { chat in
      let id = try chat.findOrCreateConversation(with: ["ann"]).id
      #expect(throws: StoreError.conversation(.direct, id)) {
        try chat.addParticipants(["bob"], to: id)
      }
      #expect(throws: StoreError.conversation(.direct, id)) {
        try chat.removeParticipants(["ann"], from: id)
      }
      #expect(throws: StoreError.conversation(.direct, id)) { try chat.leave(id) }
      #expect(throws: StoreError.conversation(.notFound, "none")) { try chat.leave("none") }
      #expect(throws: StoreError.conversation(.notFound, "none")) {
        try chat.setPinned(true, of: "none")
      }
    }
    try store.expectSound()
  }

  @Test func titleAvatarAndMarksAreSetAndCleared() throws {
    let store = try memoryStore()
    try store.write { chat in
      let id = try group(chat)
      #expect(try chat.setTitle("Zoe\u{308}", of: id))
      // The same characters in other bytes are another title.
      #expect(try chat.setTitle("Zoë", of: id))
      #expect(try chat.setAvatar("https://a", of: id))
      #expect(try chat.setPinned(true, of: id))
      #expect(try chat.setMuted(true, of: id))
      #expect(try chat.setArchived(true, of: id))
      let room = try #require(try chat.conversation(id))
      #expect(room.title == "Zoë" && room.avatar == "https://a")
      #expect(room.isPinned && room.isMuted && room.isArchived)
      #expect(try chat.setTitle(nil, of: id))
      #expect(try chat.setPinned(false, of: id))
      #expect(try chat.conversation(id)?.title == nil)
      #expect(try chat.conversation(id)?.isPinned == false)
      let long = String(repeating: "x", count: 65_537)
      #expect(throws: StoreError.input(.tooLong(.title, byteCount: 65_537, limit: 65_536))) {
        try chat.setTitle(long, of: id)
      }
      #expect(throws: StoreError.input(.tooLong(.avatar, byteCount: 65_537, limit: 65_536))) {
        try chat.setAvatar(long, of: id)
      }
    }
    try store.expectSound()
  }

  @Test func anActThatChangesNothingCommitsNothing() throws {
    let store = try memoryStore()
    try store.write { chat in
      let id = try group(chat)
      try chat.setDraft("d", in: id)
      try chat.setPinned(true, of: id)
    }
    let acts: [(borrowing StoreWriter) throws -> Bool] = [
      { try $0.setTitle("Group", of: "g") }, { try $0.setAvatar(nil, of: "g") },
      { try $0.addParticipants(["ann"], to: "g") },
      { try $0.removeParticipants(["nobody", "bob's brother"], from: "g") },
      { try $0.setPinned(true, of: "g") }, { try $0.setMuted(false, of: "g") },
      { try $0.setArchived(false, of: "g") }, { try $0.setDraft("d", in: "g") },
      { try $0.receive(ReceivedConversation("g", at: time(0)) { $0.title = .text("old") }) },
    ]
    for (index, act) in acts.enumerated() {
      let isCommit = try store.commits { chat in
        let isChanged = try act(chat)
        #expect(!isChanged, "act \(index)")
      }
      // A name that was never met before gets its number all the same.
      if index != 3 { #expect(!isCommit, "act \(index)") }
    }
  }

  @Test func aDraftIsKeptWithItsReply() throws {
    let store = try memoryStore()
    try store.write { chat in
      let id = try group(chat)
      #expect(try chat.draft(of: id) == nil && chat.conversation(id)?.hasDraft == false)
      #expect(try !chat.setDraft(nil, in: id))
      #expect(try chat.setDraft("", replyTo: "m", in: id))
      #expect(try chat.setDraft("half a", replyTo: "m", in: id))
      let draft = try #require(try chat.draft(of: id))
      #expect(draft.text == "half a" && draft.replyTo == "m")
      #expect(try chat.conversations(count: 1).first?.hasDraft == true)
      let long = String(repeating: "é", count: 524_288)
      #expect(try chat.setDraft(long, in: id))
      #expect(try chat.draft(of: id)?.text == long)
      #expect(throws: StoreError.input(.tooLong(.text, byteCount: 1_048_577, limit: 1_048_576))) {
        try chat.setDraft(long + "x", in: id)
      }
      #expect(try chat.setDraft("", in: id))
      #expect(try !chat.setDraft(nil, in: id))
      #expect(try chat.draft(of: id) == nil && chat.conversation(id)?.hasDraft == false)
    }
    try store.expectSound()
  }

  @Test func aLocalActIsLaterThanWhatItReplaces() throws {
    let store = try memoryStore(clock: TestClock(10))
    try store.write { chat in
      let id = try group(chat)
      // From a device whose clock runs ahead.
      try chat.receive(ReceivedConversation(id, at: time(500)) { $0.title = .text("ahead") })
      #expect(try chat.setTitle("mine", of: id))
      #expect(try chat.conversation(id)?.title == "mine")
      #expect(
        try !chat.receive(ReceivedConversation(id, at: time(500)) { $0.title = .text("ahead") }))
      try chat.receive(
        ReceivedConversation(id, at: Timestamp.plausibleRange.upperBound) {
          $0.members = [.init("ann", isActive: false)]
        })
      #expect(try chat.addParticipants(["bob", "cid"], to: id))
    }
    try store.expectSound()
  }

  @Test func whatIsReceivedOverALimitIsKept() throws {
    let store = try memoryStore()
    let title = String(repeating: "x", count: 100_000)
    let crowd = (0..<10_500).map { ReceivedConversation.Member(MemberID("m\($0)")) }
    try store.write { chat in
      try chat.receive(
        ReceivedConversation("big", at: time(5)) { big in
          big.title = .text(title)
          big.members = crowd
        })
      #expect(try chat.conversation("big")?.title == title)
      #expect(try chat.conversation("big")?.participantCount == 10_500)
      #expect(try chat.participations(in: "big").count == 10_500)
      #expect(try chat.conversation("big")?.participants.count == 32)
      #expect(try chat.conversations(count: 1).first?.participants.count == 32)
      #expect(throws: StoreError.input(.identifier(what: "member id", byteCount: 0))) {
        try chat.receive(ReceivedConversation("x", at: time(5)) { $0.members = [.init("")] })
      }
      #expect(try chat.conversation("x") == nil)
    }
    try store.expectSound()
  }
}
