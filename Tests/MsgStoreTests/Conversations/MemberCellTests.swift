import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Members with a cell each are what the same members in one value are.
struct MemberCellTests {
  private func options(_ maximumCount: Int) -> StoreOptions {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) })
    options.worksInBackground = false
    options.maximumInlineMemberCount = maximumCount
    return options
  }

  private func store(
    _ maximumCount: Int, in files: MemoryDirectory = MemoryDirectory()
  ) throws -> MessageStore {
    try MessageStore(in: files, name: "store", options: options(maximumCount))
  }

  private func name(_ index: Int) -> MemberID { MemberID("member \(index)") }

  // MARK: The same answers

  /// One act in a conversation of many members.
  private enum Act {
    case told(ReceivedConversation)
    case added([MemberID]), removed([MemberID]), left, put([MemberID])
    case sent(MessageID, Int64)
    case receipt(ReceivedReceipt)
    case found([MemberID])
    case renamed, deleted(Int64), deletedHere

    func run(_ chat: borrowing StoreWriter) throws {
      switch self {
      case .told(let news): try chat.receive(news)
      case .added(let members): _ = try? chat.addParticipants(members, to: "a")
      case .removed(let members): _ = try? chat.removeParticipants(members, from: "a")
      case .left: _ = try? chat.leave("a")
      case .put(let members): try chat.putConversation("b", participants: members)
      case .sent(let id, let moment):
        try chat.insert(
          Message(id: id, in: "a", from: "me", text: "text", serverTimestamp: time(moment)))
      case .receipt(let receipt): _ = try chat.receive(receipt)
      case .found(let members):
        // The names of new conversations are random.
        if members.count > 40 { _ = try chat.findOrCreateConversation(with: members) }
      case .renamed: _ = try? chat.renameConversation("b", to: "a")
      case .deleted(let moment): _ = try chat.receiveConversationDeletion("a", at: time(moment))
      case .deletedHere: _ = try chat.deleteConversation("a")
      }
    }
  }

  private func act(_ random: inout SeededGenerator) -> Act {
    func moment() -> Int64 { .random(in: 0..<40, using: &random) }
    func member() -> MemberID {
      random.chance(5) ? "me" : name(.random(in: 0..<90, using: &random))
    }
    func members(_ limit: Int) -> [MemberID] {
      (0..<Int.random(in: 1...limit, using: &random)).map { _ in member() }
    }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<35:
      let id: ConversationID = random.chance(80) ? "a" : "b"
      var news = ReceivedConversation(id, at: time(moment()))
      for member in Set(members(random.chance(20) ? 90 : 4)).sorted() {
        let joined = random.chance(40) ? time(moment()) : nil
        news.members.append(.init(member, isActive: random.chance(65), joinedAt: joined))
      }
      news.hasAllMembers = random.chance(10)
      return .told(news)
    case 35..<45: return .added(Set(members(5)).sorted())
    case 45..<55: return .removed(Set(members(5)).sorted())
    case 55..<57: return .left
    case 57..<60: return .put(Set(members(60)).sorted())
    case 60..<72: return .sent(MessageID("m\(Int.random(in: 0..<20, using: &random))"), moment())
    case 72..<94:
      return .receipt(
        ReceivedReceipt(
          in: "a", of: member(), random.chance(50) ? .read : .delivered,
          .upTo(MessageID("m\(Int.random(in: 0..<20, using: &random))"))))
    case 94..<96: return .renamed
    case 96..<98: return .deleted(moment())
    default: return .deletedHere
    }
  }

  /// What can be asked of a conversation and of its members.
  private func answers(_ store: MessageStore) throws -> [String] {
    var lines: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &lines) }
    return try store.read { chat in
      var answers = String(decoding: lines, as: UTF8.self).split(separator: "\n").map { line in
        // A token is random.
        String(line).replacing(/"token":"[0-9a-f]*",?/, with: "")
      }
      for id in ["a", "b"] as [ConversationID] {
        guard let room = try chat.conversation(id) else { continue }
        answers.append("\(id) \(room.participants) of \(room.participantCount) \(room.isMember)")
        answers += try chat.participations(in: id).map { "\($0)" }
        for message in try chat.thread(id).tail(50) {
          answers.append("\(message.id) \(message.status)")
        }
      }
      return answers
    }
  }

  @Test(arguments: seeds(24, debugCount: 3)) func cellsAnswerAsOneValueDoes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let others = [0, 3, 32].randomElement(using: &random) ?? 0
    let (whole, cells) = (try store(.max), try store(others))
    for step in 0..<60 {
      let acts = (0..<Int.random(in: 1...3, using: &random)).map { _ in act(&random) }
      for store in [whole, cells] {
        try store.write { chat in for act in acts { try act.run(chat) } }
        if random.chance(30) { try store.finishWork() }
      }
      for store in [whole, cells] { try store.finishWork() }
      let (expected, found) = (try answers(whole), try answers(cells))
      if let (line, other) = zip(expected, found).first(where: { $0 != $1 }) {
        Issue.record("seed \(seed), step \(step): \(other), but \(line)")
        return
      }
      #expect(expected.count == found.count, "seed \(seed), step \(step)")
      try cells.expectSound()
    }
  }

  // MARK: First participants

  /// A list shows the first ones, also when those who came first go one after the other.
  @Test func theFirstParticipantsAreThoseWhoAreLeft() throws {
    let store = try store(32)
    try store.write { chat in
      var news = ReceivedConversation("a", at: time(0))
      news.members = (0..<200).map { .init(name($0), joinedAt: time(Int64($0))) }
      try chat.receive(news)
    }
    for gone in 0..<180 {
      try store.write { chat in
        var news = ReceivedConversation("a", at: time(1000))
        news.members = [.init(name(gone), isActive: false)]
        try chat.receive(news)
      }
      let shown = try store.read { try $0.conversation("a")?.participants }
      #expect(shown == ((gone + 1)..<min(gone + 33, 200)).map(name))
    }
    try store.expectSound()
  }

  // MARK: Finding a conversation by its members

  @Test func aConversationIsFoundByMembersInEitherForm() throws {
    let files = MemoryDirectory()
    let crowd = (0..<40).map(name)
    var store = try store(.max, in: files)
    let id = try store.write { try $0.findOrCreateConversation(with: crowd).id }
    try store.close()
    // One value, under the digest of all its members.
    store = try self.store(32, in: files)
    #expect(try store.write { try $0.findOrCreateConversation(with: crowd).id } == id)
    try store.expectSound()
    // The first change writes cells, and the entry by which it is found.
    try store.write { chat in
      var news = ReceivedConversation(id, at: time(2_000_000))
      news.members = [.init("late", joinedAt: time(2_000_000))]
      try chat.receive(news)
    }
    try store.expectSound()
    #expect(try store.write { try $0.findOrCreateConversation(with: crowd + ["late"]).id } == id)
    #expect(try store.write { try $0.findOrCreateConversation(with: crowd).id } != id)
    #expect(try store.read { try $0.participations(in: id).count } == 42)
    try store.close()
    // It keeps its cells however few are left.
    store = try self.store(.max, in: files)
    try store.write { chat in
      var news = ReceivedConversation(id, at: time(3_000_000))
      news.members = crowd.dropFirst().map { .init($0, isActive: false) }
      try chat.receive(news)
    }
    #expect(
      try store.write { try $0.findOrCreateConversation(with: [crowd[0], "late"]).id } == id)
    try store.expectSound()
  }

  // MARK: Marks of all the others

  @Test func whoComesIsWaitedForAndWhoGoesIsNot() throws {
    let store = try store(0)
    func tell(_ member: MemberID, isActive: Bool = true, at moment: Int64) throws {
      var news = ReceivedConversation("a", at: time(moment))
      news.members = [.init(member, isActive: isActive)]
      try store.write { try $0.receive(news) }
      try store.expectSound()
    }
    func status() throws -> MessageStatus? {
      try store.read { try $0.message("m", in: "a")?.status }
    }
    for member in ["me", "ann", "bob"] as [MemberID] { try tell(member, at: 1) }
    try store.write { chat in
      try chat.insert(
        Message(id: "m", in: "a", from: "me", text: "text", serverTimestamp: time(10)))
      for member in ["ann", "bob"] as [MemberID] {
        _ = try chat.receive(ReceivedReceipt(in: "a", of: member, .read, .upTo("m")))
      }
    }
    #expect(try status() == .read)
    try tell("cid", at: 2)
    #expect(try status() == .sent)
    try tell("dan", at: 3)
    try tell("cid", isActive: false, at: 4)
    #expect(try status() == .sent)
    try tell("dan", isActive: false, at: 5)
    #expect(try status() == .read)
    for member in ["ann", "bob"] as [MemberID] { try tell(member, isActive: false, at: 6) }
    #expect(try status() == .sent)
  }

  // MARK: Damage

  private func group(_ count: Int) throws -> MemoryDirectory {
    try closedStore(options(32)) { store in
      try store.write { chat in
        var group = ReceivedConversation("group", at: time(0))
        group.hasAllMembers = true
        group.members = [.init("me")] + (0..<count).map { .init(name($0), joinedAt: time(5)) }
        try chat.receive(group)
        try chat.insert(
          Message(id: "m", in: "group", from: "me", text: "text", serverTimestamp: time(9)))
      }
    }
  }

  private static func insert(_ key: [UInt8], _ value: [UInt8], _ source: PageSource) throws {
    _ = try Bytes.with(key) { key in
      try Bytes.with(value) { try BTree(source, Schema.conversations).insert(key, $0) }
    }
  }

  @Test func aMissingOrStrangeCellIsFound() throws {
    let key: [UInt8] = [0, 0, 0, 1, 9, 0, 0, 0, 7]
    let plants: [(PageSource) throws -> Void] = [
      { source in
        _ = try Bytes.with(key) { try BTree(source, Schema.conversations).remove($0) }
      },
      { source in try Self.insert(key, [0], source) },
      { source in
        // Has left, by a fact that the sum does not know.
        try Self.insert(key, [0, 9, 0, 0, 0, 0, 0, 0, 0], source)
      },
    ]
    for plant in plants {
      let files = try group(100)
      try files.plant(in: "store", plant)
      var options = options(32)
      options.access = .readOnly
      let store = try MessageStore(in: files, name: "store", options: options)
      #expect(try !store.check().isEmpty)
      try store.close()
    }
  }

  @Test func aSalvageSavesMembersWithCells() throws {
    let salvaged = try SalvageSubject(try group(100)).salvage()
    #expect(salvaged.saved.isWhole)
    let room = try #require(salvaged.content.conversations["group"])
    #expect(room.participantCount == 101)
    #expect(room.participants.first == "me")
  }
}
