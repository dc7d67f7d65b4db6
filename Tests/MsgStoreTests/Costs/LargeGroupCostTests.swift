import MsgStore
import PageFile
import Testing

/// What is done with a group costs the same however many take part.
@Suite struct LargeGroupCostTests {
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
}
