import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// More emoji than a record counts, and reactions that were removed.
struct ManyReactionsTests {
  /// One change of a member's reaction with an emoji.
  private struct Change {
    var reaction: Reaction
    var isRemoved = false

    init(_ emoji: Int, _ member: Int, at moment: Int64, isRemoved: Bool = false) {
      let member: MemberID = member == 0 ? "me" : MemberID("member \(member)")
      reaction = Reaction("e\(emoji)", from: member, at: time(moment))
      self.isRemoved = isRemoved
    }
  }

  private func receive(_ changes: [Change], _ chat: borrowing StoreWriter) throws {
    for change in changes {
      try chat.receive(change.reaction, isRemoved: change.isRemoved, to: "m", in: "room")
    }
  }

  private func shown(_ store: MessageStore) throws -> [String] {
    try #require(try store.message("m")).reactionCounts.map {
      "\($0.emoji) \($0.count) \($0.isOwn)"
    }
  }

  /// What is shown after these changes: of each reaction the latest change counts; then the emoji
  /// that are used most, as many as are counted.
  private func expected(_ changes: [Change]) -> [String] {
    var last: [String: Change] = [:]
    for change in changes {
      let key = "\(change.reaction.member) \(change.reaction.emoji)"
      if let old = last[key], old.reaction.time >= change.reaction.time { continue }
      last[key] = change
    }
    var members: [String: [MemberID]] = [:]
    for change in last.values where !change.isRemoved {
      members[change.reaction.emoji, default: []].append(change.reaction.member)
    }
    let used = members.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    return used.prefix(256).sorted { $0.key < $1.key }.map {
      "\($0.key) \($0.value.count) \($0.value.contains("me"))"
    }
  }

  @Test func theEmojiThatAreUsedMostAreCounted() throws {
    let store = try memoryStore()
    var changes = (0..<259).map { Change($0, 1, at: 2) }
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      try receive(changes, chat)
    }
    #expect(try shown(store) == expected(changes))
    // The last of them become the first, and others take the places of removed ones.
    for new in [Change(99, 0, at: 3), Change(98, 2, at: 3), Change(0, 1, at: 4, isRemoved: true)] {
      changes.append(new)
      try store.write { chat in try receive([new], chat) }
      #expect(try shown(store) == expected(changes))
      try store.expectSound()
    }
    let rest = (1..<10).map { Change($0, 1, at: 5, isRemoved: true) }
    try store.write { chat in try receive(rest, chat) }
    #expect(try shown(store) == expected(changes + rest))
    #expect(try shown(store).count == 249)
    try store.expectSound()
    try store.write { chat in try chat.receiveRetraction(of: "m", in: "room") }
    #expect(try shown(store).isEmpty)
    try store.expectSound()
  }

  @Test(arguments: seeds(3, debugCount: 1)) func anyOrderCountsTheSame(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var given = message("m", at: 1)
    let first = (0..<290).map { Change($0, 1, at: 2) }
    given.reactions = first.map(\.reaction)
    var changes: [Change] = []
    for moment in 0..<80 as Range<Int64> {
      changes.append(
        Change(
          Int.random(in: 0..<300, using: &random), Int.random(in: 0..<5, using: &random),
          at: 10 + moment, isRemoved: random.chance(40)))
    }
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(given)
      try receive(changes, chat)
    }
    // They may wait for the message, under another of its names, and in another order.
    let other = try memoryStore()
    try other.write { chat in
      try receive(changes.shuffled(using: &random), chat)
      try chat.insert(given)
    }
    let copy = try MessageStore.restored(from: try store.lines())
    for store in [store, other, copy] {
      #expect(try shown(store) == expected(first + changes), "seed \(seed)")
      try store.expectSound()
    }
    #expect(try store.lines() == other.lines(), "seed \(seed)")
  }

  @Test func countsGoWithAMessageThatGetsAnotherName() throws {
    let store = try memoryStore()
    let changes = (0..<270).map { Change($0, 1, at: 2) } + [Change(7, 2, at: 3)]
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      try receive(changes, chat)
      try chat.acknowledge("a", in: "room", serverTimestamp: time(1), as: "m")
    }
    #expect(try shown(store) == expected(changes))
    try store.expectSound()
    try store.write { chat in try chat.delete("a", in: "room") }
    try store.expectSound()
  }

  /// A store with a message, filled, and reopened without a cache.
  private func counted(_ change: (inout Message) -> Void, _ changes: [Change]) throws
    -> CountedStore
  {
    var given = message("m", at: 1)
    change(&given)
    let files = try closedStore(countedOptions()) { store in
      try store.write { chat in
        try chat.insert(given)
        try receive(changes, chat)
      }
    }
    return try CountedStore(files, countedOptions())
  }

  private func tail(_ store: MessageStore) throws {
    _ = try store.read { chat in try chat.thread("room").tail(1).map(\.reactionCounts) }
  }

  @Test func manyEmojiCostAPageAndAReactionNoMore() throws {
    func cost(_ count: Int) throws -> (tail: Int, reaction: Int) {
      let emoji = (0..<count).map { Change($0, $0 / 100, at: 2).reaction }
      let store = try counted({ $0.reactions = emoji }, [])
      let tail = try store.pagesRead(tail)
      let reaction = try store.pagesRead { store in
        try store.write { chat in try receive([Change(90, 77, at: 3)], chat) }
      }
      return (tail, reaction)
    }
    let few = try cost(300)
    let many = try cost(3000)
    // The tree is deeper.
    #expect(many.tail <= few.tail + 1)
    #expect(many.reaction <= few.reaction + 8)
  }

  @Test func removedReactionsAreNotReadWithAPage() throws {
    func cost(_ count: Int) throws -> Int {
      let removed = (0..<count).map { Change($0, 1, at: 3, isRemoved: true) }
      let store = try counted({ $0.reactions = [Change(0, 2, at: 2).reaction] }, removed)
      #expect(try store.store.message("m")?.reactions.count == 1)
      return try store.pagesRead(tail)
    }
    let (few, many) = (try cost(10), try cost(1500))
    #expect(many <= few + 1)
  }
}
