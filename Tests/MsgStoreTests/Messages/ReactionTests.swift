import MsgStore
import Testing

/// Reactions: one for each member and emoji, merged by time.
@Suite struct ReactionTests {
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
}
