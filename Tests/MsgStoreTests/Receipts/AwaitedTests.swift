import MsgStore
import PageFile
import Testing

/// A message says whom it waits for, and what a screen shows of it is what a count of all receipts
/// says.
struct AwaitedTests {
  private func store(_ maximumCount: Int) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) })
    options.worksInBackground = false
    options.maximumInlineMemberCount = maximumCount
    return try MessageStore(in: MemoryDirectory(), name: "store", options: options)
  }

  private func name(_ index: Int) -> MemberID { MemberID("member \(index)") }

  private func randomStep(
    _ chat: borrowing StoreWriter, _ memberCount: Int, _ random: inout SeededGenerator
  ) throws {
    func member() -> MemberID { name(.random(in: 0..<memberCount, using: &random)) }
    func id() -> MessageID { MessageID("m\(Int.random(in: 0..<6, using: &random))") }
    func moment() -> Int64 { .random(in: 0..<30, using: &random) }
    let kind: ReceiptKind = random.chance(70) ? .read : .delivered
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12:
      try chat.insert(
        Message(
          id: id(), in: "a", from: random.chance(90) ? "me" : member(), text: "text",
          serverTimestamp: time(moment())))
    case 12..<70:
      for member in random.chance(20) ? (0..<memberCount).map(name) : [member()]
      where random.chance(95) {
        _ = try chat.receive(
          ReceivedReceipt(in: "a", of: member, kind, .messages([id()]), time: time(moment())))
      }
    case 70..<76:
      _ = try chat.receive(ReceivedReceipt(in: "a", of: member(), kind, .upTo(id())))
    case 76..<94:
      var news = ReceivedConversation("a", at: time(moment()))
      let joined = random.chance(50) ? time(moment()) : nil
      news.members = [.init(member(), isActive: random.chance(50), joinedAt: joined)]
      try chat.receive(news)
    case 94..<97:
      _ = try chat.acknowledge(id(), in: "a", serverTimestamp: time(moment()))
    default:
      try chat.delete(id(), in: "a")
    }
  }

  @Test(arguments: seeds(24, debugCount: 8)) func aScreenShowsWhatACountSays(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try store(random.chance(50) ? 0 : 100)
    let memberCount = Int.random(in: 2...8, using: &random)
    try store.write { chat in
      var news = ReceivedConversation("a", at: time(0))
      news.members = [.init("me")] + (0..<memberCount).map { .init(name($0)) }
      try chat.receive(news)
    }
    for step in 0..<120 {
      try store.write { chat in try randomStep(chat, memberCount, &random) }
      if step % 40 == 39 { try store.compact() }
      try store.expectSound()
      try store.read { chat in
        for message in try chat.thread("a").tail(50) {
          let counted = try chat.delivery(of: message.id, in: "a")?.status
          #expect(message.status == counted, "seed \(seed), step \(step), \(message.id)")
        }
      }
    }
  }

  // MARK: Costs

  private func group(_ count: Int) throws -> MemoryDirectory {
    try closedStore(countedOptions()) { store in
      try store.write { chat in
        var group = ReceivedConversation("group", at: time(0))
        group.members = [.init("me")] + (0..<count).map { .init(name($0)) }
        try chat.receive(group)
        for index in 0..<20 {
          try chat.insert(
            Message(
              id: MessageID("m\(index)"), in: "group", from: "me", text: "text",
              serverTimestamp: time(Int64(index))))
        }
        let ids = (0..<20).map { MessageID("m\($0)") }
        for member in 0..<count {
          _ = try chat.receive(
            ReceivedReceipt(
              in: "group", of: name(member), .read,
              .messages(member == count - 1 ? Array(ids[..<10]) : ids)))
        }
      }
    }
  }

  /// All have read ten of the messages, and one has not read the others.
  @Test func aScreenDoesNotReadTheReceiptsOfAll() throws {
    func pages(_ count: Int) throws -> Int {
      let counted = try CountedStore(try group(count), countedOptions())
      let pages = try counted.pagesRead { store in
        try store.read { chat in
          for message in try chat.thread("group").tail(50) {
            let isRead = message.serverTimestamp.map { $0 < time(10) } ?? false
            #expect(message.status == (isRead ? .read : .sent))
          }
        }
      }
      try counted.store.expectSound()
      return pages
    }
    #expect(try pages(1000) <= pages(40) + 6)
  }
}
