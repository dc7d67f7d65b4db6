import MsgStore
import PageFile
import Testing

/// What is done with a group costs the same however many take part.
struct LargeGroupCostTests {
  private func group(_ count: Int) throws -> MemoryDirectory {
    try closedStore(countedOptions()) { store in
      try store.write { chat in
        var group = ReceivedConversation("group", at: time(0))
        group.title = .text("Group")
        group.members = [.init("me")] + (0..<count).map { .init(MemberID("member \($0)")) }
        try chat.receive(group)
        for index in 0..<4 {
          try chat.insert(
            Message(
              id: MessageID("m\(index)"), in: "group", from: "me", text: "text",
              serverTimestamp: time(Int64(index))))
        }
      }
    }
  }

  private func pagesRead(_ count: Int, _ body: (MessageStore) throws -> Void) throws -> Int {
    let counted = try CountedStore(try group(count), countedOptions())
    return try counted.pagesRead(body)
  }

  @Test func aConversationIsReadWithoutItsMembers() throws {
    func read(_ store: MessageStore) throws {
      let group = try #require(try store.read { try $0.conversation("group") })
      #expect(group.title == "Group" && group.participants.count <= 32)
      #expect(group.participants.first == "me")
    }
    let few = try pagesRead(40, read)
    let many = try pagesRead(10_000, read)
    // The trees are deeper.
    #expect(many <= few + 4)
  }

  @Test func allMembersAreNamedWhenTheyAreAskedFor() throws {
    let store = try CountedStore(try group(100), countedOptions()).store
    let members = try store.read { try $0.participations(in: "group") }
    #expect(members.count == 101 && members.allSatisfy(\.isActive))
    #expect(try store.read { try $0.conversation("group")?.participantCount } == 101)
  }

  /// A joining or a leaving reads and logs the same in a group of forty and of ten thousand.
  @Test func aJoiningAndALeavingDoNotReadTheMembers() throws {
    func cost(_ count: Int) throws -> (pages: Int, bytes: UInt64) {
      let counted = try CountedStore(try group(count), countedOptions())
      func tell(_ member: MemberID, isActive: Bool, at moment: Int64) throws {
        var news = ReceivedConversation("group", at: time(moment))
        news.members = [.init(member, isActive: isActive, joinedAt: time(moment))]
        try counted.store.write { _ = try $0.receive(news) }
      }
      let before = counted.store.statistics.walByteCount
      let pages = try counted.pagesRead { _ in
        for index in 0..<20 {
          try tell(MemberID("new \(index)"), isActive: true, at: Int64(100 + index))
        }
        for index in 10..<30 {
          try tell(MemberID("member \(index)"), isActive: false, at: Int64(200 + index))
        }
      }
      let bytes = counted.store.statistics.walByteCount - before
      try counted.store.expectSound()
      return (pages, bytes)
    }
    let few = try cost(40)
    let many = try cost(10_000)
    #expect(many.pages <= few.pages + 40 * 8)
    #expect(many.bytes <= 40 * 2048)
  }

  /// Who takes part is read for the first receipt, not in every commit again.
  @Test func aReceiptOfItsOwnCommitDoesNotReadTheMembers() throws {
    func cost(_ count: Int) throws -> Int {
      let counted = try CountedStore(try group(count), countedOptions())
      func receive(_ member: Int, _ id: MessageID) throws {
        try counted.store.write { chat in
          _ = try chat.receive(
            ReceivedReceipt(in: "group", of: MemberID("member \(member)"), .read, .upTo(id)))
        }
      }
      for member in 0..<40 { try receive(member, "m1") }
      let pages = try counted.pagesRead { _ in for member in 0..<40 { try receive(member, "m2") } }
      try counted.store.expectSound()
      return pages
    }
    let few = try cost(40)
    let many = try cost(10_000)
    // For each receipt: where its member's name and record lie, in deeper trees.
    #expect(many <= few + 40 * 6)
  }

  /// What is remembered of the members is that of the trees, whatever happened between two receipts.
  @Test func membersAreNotRememberedForLongerThanTheyAreThere() throws {
    struct OwnError: Error {}
    let store = try memoryStore()
    func join(_ chat: borrowing StoreWriter, _ member: MemberID, at moment: Int64) throws {
      var news = ReceivedConversation("group", at: time(moment))
      news.members = [.init(member)]
      try chat.receive(news)
    }
    func read(_ member: MemberID, _ id: MessageID) throws {
      try store.write { chat in
        _ = try chat.receive(ReceivedReceipt(in: "group", of: member, .read, .upTo(id)))
      }
      try store.expectSound()
    }
    func status(_ id: MessageID) throws -> MessageStatus? {
      try store.read { try $0.message(id, in: "group")?.status }
    }
    try store.write { chat in
      for member in ["me", "ann", "bob"] as [MemberID] { try join(chat, member, at: 1) }
      for index in 0..<6 {
        try chat.insert(
          Message(
            id: MessageID("m\(index)"), in: "group", from: "me", text: "text",
            serverTimestamp: time(Int64(10 + index))))
      }
    }
    try read("ann", "m1")
    try read("bob", "m1")
    #expect(try status("m1") == .read)
    // Somebody comes in a write that fails: nobody waits for them.
    #expect(throws: OwnError.self) {
      try store.write { chat in
        try join(chat, "cid", at: 2)
        throw OwnError()
      }
    }
    try read("ann", "m2")
    try read("bob", "m2")
    #expect(try status("m2") == .read)
    // Now they do come, and all wait for them.
    try store.write { chat in try join(chat, "cid", at: 3) }
    try read("ann", "m3")
    try read("bob", "m3")
    #expect(try status("m3") != .read)
    try read("cid", "m3")
    #expect(try status("m3") == .read)
    // And they leave.
    try store.write { chat in
      var news = ReceivedConversation("group", at: time(4))
      news.members = [.init("cid", isActive: false)]
      try chat.receive(news)
    }
    try store.suspend()
    try store.resume()
    try read("ann", "m4")
    try read("bob", "m4")
    #expect(try status("m4") == .read)
  }
}
