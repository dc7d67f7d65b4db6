import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Reactions: one for each member and emoji, merged by time.
struct ReactionTests {
  private func reactions(_ store: MessageStore) throws -> [String] {
    try #require(try store.message("m")).reactions.map {
      "\($0.member) \($0.emoji) \($0.time.microseconds)"
    }
  }

  @Test func thereIsOneForEachMemberAndEmoji() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      for (emoji, member, moment) in [
        ("👍", "you", 5), ("👍", "ann", 6), ("❤️", "you", 7), ("👍", "you", 8), ("👍", "you", 8),
      ] {
        try chat.receive(
          Reaction(emoji, from: MemberID(member), at: time(Int64(moment))), to: "m", in: "room")
      }
    }
    #expect(try reactions(store) == ["ann 👍 6", "you ❤️ 7", "you 👍 8"])
    try store.expectSound()
  }

  @Test func theServersOwnIDStaysWithItsReaction() throws {
    func reaction(_ moment: Int64, _ name: MessageID?) -> Reaction {
      Reaction("👍", from: "you", at: time(moment), serverName: name)
    }
    let long = MessageID(String(repeating: "e", count: 200))
    // The latest change counts with its id; of two statements of it the one that has one.
    let told = [reaction(5, "$old"), reaction(8, nil), reaction(8, "$a"), reaction(8, long)]
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
      let store = try memoryStore()
      try store.write { chat in
        try chat.receive(told[order[0]], to: "m", in: "room")
        try chat.insert(message("m", at: 1))
        for index in order.dropFirst() { try chat.receive(told[index], to: "m", in: "room") }
      }
      let copy = try MessageStore.restored(from: try store.lines())
      for store in [store, copy] {
        let single = try #require(try store.message("m")).reactions
        let slice = try store.read { try $0.thread("room").tail(1) }
        let all = try store.read { try $0.reactions(to: "m", in: "room") }
        #expect(single == [reaction(8, long)] && all == single)
        #expect(slice.first?.reactions == single)
        try store.expectSound()
      }
      // Found by the server's id, and retracted.
      try store.write { chat throws in
        let found = try chat.reactions(to: "m", in: "room").first { $0.serverName == long }
        var removed = try #require(found)
        removed.time = time(9)
        try chat.receive(removed, isRemoved: true, to: "m", in: "room")
      }
      #expect(try reactions(store).isEmpty)
    }
    #expect(throws: StoreError.input(.identifier(what: "message id", byteCount: 0))) {
      let store = try memoryStore()
      try store.write { try $0.receive(reaction(5, ""), to: "m", in: "room") }
    }
  }

  @Test func addingAndRemovingMergeByTime() throws {
    // The last word counts, and of two at once the removal.
    let words: [(Int64, Bool)] = [(5, false), (7, true), (6, false), (9, false), (9, true)]
    for count in 1...words.count {
      var outcomes: Set<[String]> = []
      for order in [Array(words.prefix(count)), words.prefix(count).reversed()] {
        let store = try memoryStore()
        try store.write { chat in
          try chat.insert(message("m", at: 1))
          for (moment, isRemoved) in order {
            let reaction = Reaction("👍", from: "you", at: time(moment))
            try chat.receive(reaction, isRemoved: isRemoved, to: "m", in: "room")
            #expect(try !chat.receive(reaction, isRemoved: isRemoved, to: "m", in: "room"))
          }
        }
        outcomes.insert(try reactions(store))
        try store.expectSound()
      }
      let expected: [[String]] = [["you 👍 5"], [], [], ["you 👍 9"], []]
      #expect(outcomes == [expected[count - 1]])
    }
  }

  private func bytes(_ emoji: String) -> String {
    emoji.utf8.map { "\($0)" }.joined(separator: " ")
  }

  @Test func aMessageHasTheNumberOfEachEmoji() throws {
    var random = SeededGenerator(seed: seeds(1)[0])
    let store = try memoryStore()
    try store.write { chat in try chat.insert(message("m", at: 1)) }
    // By the bytes of the emoji.
    var members: [String: Set<String>] = [:]
    for moment in 2..<400 {
      let emoji = ["👍", "👍🏽", "é", "e\u{301}", "❤️"][Int.random(in: 0..<5, using: &random)]
      let member = random.chance(20) ? "me" : "m\(Int.random(in: 0..<30, using: &random))"
      let isRemoved = random.chance(40)
      try store.write { chat in
        let reaction = Reaction(emoji, from: MemberID(member), at: time(Int64(moment)))
        try chat.receive(reaction, isRemoved: isRemoved, to: "m", in: "room")
      }
      if isRemoved {
        members[bytes(emoji)]?.remove(member)
      } else {
        members[bytes(emoji), default: []].insert(member)
      }
      let shown = try #require(try store.message("m")).reactionCounts
      let expected = members.filter { !$0.value.isEmpty }
      #expect(
        shown.map { "\(bytes($0.emoji)): \($0.count) \($0.isOwn)" }.sorted()
          == expected.map { "\($0.key): \($0.value.count) \($0.value.contains("me"))" }.sorted())
    }
    try store.expectSound()
  }

  @Test func aMessageWithManyReactionsListsNoneOfThem() throws {
    let store = try memoryStore()
    let limit = Message.maximumListedReactionCount
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      for index in 0..<limit {
        try chat.receive(
          Reaction("👍", from: MemberID("m\(index)"), at: time(2)), to: "m", in: "room")
      }
    }
    #expect(try store.message("m")?.reactions.count == limit)
    try store.write { chat in
      try chat.receive(Reaction("🎉", from: "me", at: time(3)), to: "m", in: "room")
    }
    try store.read { chat in
      let shown = try #require(try chat.thread("room").tail(1).first)
      #expect(try shown.reactions == [] && shown == chat.message("m", in: "room"))
      #expect(
        shown.reactionCounts.map { "\($0.emoji) \($0.count) \($0.isOwn)" }
          == ["🎉 1 true", "👍 \(limit) false"])
      let all = try chat.reactions(to: "m", in: "room")
      #expect(all.count == limit + 1 && all.contains { $0.member == "me" && $0.emoji == "🎉" })
      #expect(try chat.reactions(to: "nothing", in: "room") == [])
      #expect(try chat.reactions(to: "m", in: "elsewhere") == [])
    }
    try store.write { chat in try chat.receiveRetraction(of: "m", in: "room") }
    #expect(try store.message("m")?.reactionCounts == [])
    #expect(try store.read { chat in try chat.reactions(to: "m", in: "room") } == [])
    try store.expectSound()
  }

  @Test func theLocalMemberMayBecomeKnownLater() throws {
    let directory = MemoryDirectory()
    let anonymous = try memoryStore(directory, localMember: nil)
    try anonymous.write { chat in
      try chat.insert(message("m", at: 1))
      for member: MemberID in ["me", "you"] {
        try chat.receive(Reaction("👍", from: member, at: time(2)), to: "m", in: "room")
      }
    }
    func counts(_ count: Int, isOwn: Bool) -> [ReactionCount] {
      [ReactionCount("👍", count: count, isOwn: isOwn)]
    }
    #expect(try anonymous.message("m")?.reactionCounts == counts(2, isOwn: false))
    try anonymous.close()
    let store = try memoryStore(directory)
    #expect(try store.message("m")?.reactionCounts == counts(2, isOwn: true))
    try store.write { chat in
      try chat.receive(Reaction("👍", from: "ann", at: time(2)), to: "m", in: "room")
    }
    #expect(try store.message("m")?.reactionCounts == counts(3, isOwn: true))
    try store.expectSound()
    try store.close()
  }

  @Test func theLocalMemberReactsAndTakesItBack() throws {
    let clock = TestClock(100)
    let store = try clock.store()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      try chat.receive(
        Reaction("👍", from: "me", at: time(500)), isRemoved: true, to: "m", in: "room")
      // A clock that is behind does not lose what is done here.
      #expect(try chat.react("👍", to: "m", in: "room"))
      #expect(try !chat.react("👍", to: "m", in: "room"))
      #expect(try chat.message("m", in: "room")?.reactions.first?.time == time(501))
      #expect(try chat.removeReaction("👍", from: "m", in: "room"))
      #expect(try !chat.removeReaction("👍", from: "m", in: "room"))
      #expect(try chat.message("m", in: "room")?.reactions == [])
      #expect(throws: StoreError.input(.reaction(byteCount: 0, limit: 64))) {
        try chat.react("", to: "m", in: "room")
      }
      #expect(throws: StoreError.message(.notFound, "n", in: "room")) {
        try chat.react("👍", to: "n", in: "room")
      }
      try chat.receiveRetraction(of: "m", in: "room")
      #expect(throws: StoreError.message(.retracted, "m", in: "room")) {
        try chat.react("👍", to: "m", in: "room")
      }
    }
    try store.expectSound()
  }

  @Test(arguments: [65, 255, 300])
  func aLongEmojiOfAFileIsAnError(byteCount: Int) throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in try chat.insert(message("m", at: 1)) }
    try store.close()
    try directory.plantReaction(emojiByteCount: byteCount, in: "store")
    let damaged = try memoryStore(directory)
    let isRefused = {
      (error: any Error) in if case StoreError.corruptRecord = error { true } else { false }
    }
    #expect {
      // All reactions of a message are counted when a copy comes with some.
      try damaged.write { chat in
        var copy = message("m", at: 1)
        copy.reactions = [Reaction("🎉", from: "ann", at: time(6))]
        _ = try chat.insert(copy)
      }
    } throws: {
      isRefused($0)
    }
    #expect(try damaged.message("m")?.text == "hello")
    #expect(try !damaged.check().isEmpty)
  }
}

extension MemoryDirectory {
  /// Adds a reaction to the message "m" of the first conversation.
  fileprivate func plantReaction(emojiByteCount: Int, in name: String) throws {
    try plant(in: name) { source in
      var key = FactKey.prefix(1, "m", .reaction)
      key.append(bigEndian: UInt32(1))
      for _ in 0..<emojiByteCount { key.append(0x61) }
      let record: [UInt8] = [1, 0, 5, 0, 0, 0, 0, 0, 0, 0]
      _ = try Bytes.with(record) { try BTree(source, TreeNumber(9)).insert(key.bytes, $0) }
    }
  }
}
