import Dispatch
import MsgStore
import PageFile
import Synchronization
import Testing

/// Kinds, and finding a conversation by who takes part.
struct GetOrCreateTests {
  @Test func theKindIsStoredNotCounted() throws {
    let store = try memoryStore()
    try store.write { chat in
      let pair = try chat.createGroup(participants: ["ann"])
      #expect(pair.kind == .group && pair.participants == ["ann", "me"])
      let direct = try chat.findOrCreateConversation(with: ["ann"])
      #expect(direct.kind == .direct && direct.id != pair.id)
      try chat.insert(chatMessage("m", in: "stub", at: 1))
      #expect(try chat.conversation("stub")?.kind == .unknown)
      try chat.receive(ReceivedConversation("stub", at: time(1)) { $0.kind = .group })
      #expect(try chat.conversation("stub")?.kind == .group)
    }
    try store.expectSound()
  }

  @Test func getOrCreateIgnoresOrderAndPutsTheLocalMemberIn() throws {
    let store = try memoryStore()
    try store.write { chat in
      let direct = try chat.findOrCreateConversation(with: ["me", "ann"])
      #expect(direct.participants == ["me", "ann"] && direct.createdBy == "me")
      #expect(direct.createdAt == time(1_000_000))
      #expect(try chat.findOrCreateConversation(with: ["ann", "me"]).id == direct.id)
      #expect(try chat.findOrCreateConversation(with: ["ann"]).id == direct.id)
      let group = try chat.findOrCreateConversation(with: ["ann", "bob"])
      #expect(group.kind == .group && group.participants == ["ann", "bob", "me"])
      #expect(try chat.findOrCreateConversation(with: ["bob", "ann", "bob"]).id == group.id)
    }
    try store.expectSound()
  }

  @Test func threeAndMoreFindTheOldestGroupWithThatActiveSet() throws {
    let clock = TestClock()
    let store = try memoryStore(clock: clock)
    try store.write { chat in
      let old = try chat.createGroup(participants: ["ann", "bob"], title: "old")
      clock.set(2_000_000)
      let new = try chat.createGroup(participants: ["ann", "bob"], title: "new")
      #expect(old.id != new.id)
      #expect(try chat.findOrCreateConversation(with: ["bob", "ann"]).id == old.id)
      // Who joins or leaves makes another set of it.
      try chat.addParticipants(["cid"], to: old.id)
      #expect(try chat.findOrCreateConversation(with: ["bob", "ann"]).id == new.id)
      #expect(try chat.findOrCreateConversation(with: ["bob", "ann", "cid"]).id == old.id)
      try chat.removeParticipants(["cid"], from: old.id)
      #expect(try chat.findOrCreateConversation(with: ["bob", "ann"]).id == old.id)
      try chat.leave(old.id)
      #expect(try chat.findOrCreateConversation(with: ["bob", "ann"]).id == new.id)
    }
    try store.expectSound()
  }

  @Test func aConversationWithOneselfOnlyIsRefused() throws {
    let store = try memoryStore()
    for participants in [[], ["me"], ["me", "me"]] as [[MemberID]] {
      #expect(throws: StoreError.input(.onlyOneself)) {
        try store.write { _ = try $0.findOrCreateConversation(with: participants) }
      }
    }
    let nobodys = try memoryStore(localMember: nil)
    #expect(throws: StoreError.input(.noParticipants)) {
      try nobodys.write { _ = try $0.findOrCreateConversation(with: []) }
    }
  }

  @Test func createGroupAlwaysMakesANewOne() throws {
    let store = try memoryStore()
    try store.write { chat in
      let group = try chat.createGroup("g", participants: ["ann"], title: "G", avatar: "file:g")
      #expect(group.id == "g" && group.title == "G" && group.avatar == "file:g")
      #expect(group.createdBy == "me" && group.createdAt == time(1_000_000))
      #expect(throws: StoreError.conversation(.exists, "g")) {
        _ = try chat.createGroup("g", participants: ["ann"])
      }
      #expect(try chat.createGroup(participants: ["ann"]).id != "g")
    }
    try store.expectSound()
  }

  @Test func doubleCreationOnManyThreadsGivesOne() throws {
    let store = try memoryStore()
    let ids = Mutex<Set<ConversationID>>([])
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      for _ in 0..<5 {
        let people: [MemberID] = index % 2 == 0 ? ["ann", "bob"] : ["bob", "me", "ann"]
        let id = try? store.write(.relaxed) { try $0.findOrCreateConversation(with: people).id }
        if let id { _ = ids.withLock { $0.insert(id) } }
      }
    }
    #expect(ids.withLock { $0.count } == 1)
    #expect(try store.read { try $0.conversations(count: 9).count } == 1)
  }

  @Test func aSecondTimeCommitsNothing() throws {
    let store = try memoryStore()
    #expect(try store.commits { _ = try $0.findOrCreateConversation(with: ["ann"]) })
    #expect(try !store.commits { _ = try $0.findOrCreateConversation(with: ["ann"]) })
    #expect(try store.commits { try $0.putConversation("g", participants: ["ann"], title: "t") })
    #expect(try !store.commits { try $0.putConversation("g", participants: ["ann"], title: "t") })
  }
}
