import MsgStore
import PageFile
import Testing

/// Messages and outbox entries that are found by little.
struct FindingTests {
  // MARK: By the name alone

  @Test func aMessageIsFoundByItsNameInAnyConversation() throws {
    let store = try TestClock().store()
    try store.write { chat throws in
      for index in 0..<600 {
        let room = ConversationID("c\(index)")
        try chat.insert(chatMessage(MessageID("m\(index)"), in: room, at: Int64(index)))
        try chat.insert(chatMessage("same", in: room, at: Int64(1000 + (index * 7) % 600)))
      }
      try chat.setArchived(true, of: "c3")
      try chat.setPinned(true, of: "c5")
    }
    try store.read { chat throws in
      for index in [0, 3, 5, 299, 599] {
        let found = try #require(try chat.message(MessageID("m\(index)")))
        #expect(found.conversation == ConversationID("c\(index)"))
        #expect(try found == chat.message(MessageID("m\(index)"), in: found.conversation))
      }
      // The conversation with the newest activity has 7 x index = 599 modulo 600.
      #expect(try chat.message("same")?.conversation == "c257")
      #expect(try chat.message("none") == nil)
    }
  }

  @Test func aWriterFindsItsOwnMessagesAndNoneThatAreGone() throws {
    let store = try TestClock().store()
    try store.write { chat throws in
      #expect(try chat.message("m") == nil)
      try chat.send(own("m"))
      #expect(try chat.message("m")?.text == "mine")
      try chat.delete("m", in: "room")
      #expect(try chat.message("m") == nil)
      try chat.insert(chatMessage("n", in: "gone", at: 5))
      _ = try chat.deleteConversation("gone")
      #expect(try chat.message("n") == nil)
    }
  }

  @Test func theServersOwnNameIsReadAndLeadsToTheMessage() throws {
    let store = try TestClock().store()
    try store.write { chat throws in
      try chat.send(own("mine"))
      try chat.insert(message("theirs", at: 3))
    }
    #expect(try store.message("mine")?.serverName == nil)
    let sent = try store.take()
    #expect(sent.serverName == nil)
    try store.write { chat throws in
      try chat.acknowledge("mine", in: "room", serverTimestamp: time(5), as: "$server")
      try chat.edit("mine", in: "room", text: "other")
      try chat.react("👍", to: "theirs", in: "room")
    }
    try store.read { chat throws in
      for name in ["mine", "$server"] as [MessageID] {
        let found = try #require(try chat.message(name))
        #expect(found.id == "mine" && found.serverName == "$server")
        #expect(try chat.message(name, in: "room")?.serverName == "$server")
      }
      let slice = try chat.thread("room").tail(9)
      #expect(slice.map(\.serverName) == [nil, "$server"])
    }
    // Whatever is told of it later has the server's name as well.
    let edit = try store.take()
    #expect(edit.name == "edit mine: other" && edit.serverName == "$server")
    #expect(try store.write { try $0.outbox.renew(edit) }?.serverName == "$server")
    try store.done(edit)
    #expect(try store.take().serverName == nil)
    try store.expectSound()
  }

  // MARK: By the sequence number

  @Test(arguments: seeds(2)) func aMessageIsFoundByItsNumber(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestClock().store()
    var now: Int64 = 1_704_067_200_000_000
    var numbers: [Int64: MessageID] = [:]
    var number: Int64 = -5
    try store.write { chat throws in
      for index in 0..<3000 {
        if random.chance(70) { now += Int64.random(in: 1...3_600_000_000, using: &random) }
        number += random.chance(90) ? 1 : 3
        let isNumbered = random.chance(80)
        let id = MessageID("m\(index)")
        if isNumbered { numbers[number] = id }
        try chat.insert(message(id, at: now, isNumbered ? number : nil))
      }
      try chat.send(own("pending"))
    }
    try store.read { chat throws in
      for sequence in Int64(-10)...(number + 3) where sequence % 7 == 0 || sequence < 20 {
        #expect(
          try chat.message(sequence: sequence, in: "room")?.id == numbers[sequence],
          "seed \(seed), \(sequence)")
      }
      #expect(try chat.message(sequence: .min, in: "room") == nil)
      #expect(try chat.message(sequence: .max, in: "room") == nil)
      #expect(try chat.message(sequence: 1, in: "none") == nil)
    }
  }

  @Test(arguments: seeds(2)) func numbersThatDoNotAscendAreFoundByAWalk(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestClock().store()
    let numbers = (Int64(0)..<300).shuffled(using: &random)
    try store.write { chat throws in
      for (index, number) in numbers.enumerated() {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(index), number))
      }
      try chat.delete("m7", in: "room")
      _ = try chat.declareAbsent(300...310, in: "room")
    }
    try store.read { chat throws in
      for number in Int64(0)...310 {
        let expected = number == 7 || number >= 300 ? nil : "m\(number)"
        #expect(
          try chat.message(sequence: number, in: "room")?.id.string == expected,
          "seed \(seed), \(number)")
      }
    }
  }

  @Test func findingByNumberCostsNoMoreInALongThread() throws {
    func pages(_ count: Int) throws -> Int {
      let files = try closedStore(countedOptions()) { store in
        try store.write(.relaxed) { chat throws in
          for index in 0..<Int64(count) {
            try chat.insert(message(MessageID("m\(index)"), at: 1_000_000 + index * 1_000, index))
          }
        }
      }
      let counted = try CountedStore(files, countedOptions())
      let number = Int64(count / 3)
      return try counted.pagesRead { store throws in
        #expect(
          try store.read { try $0.message(sequence: number, in: "room")?.id }
            == MessageID("m\(number)"))
      }
    }
    let (few, many) = (try pages(2_000), try pages(30_000))
    #expect(many <= 3 * few, "\(few) pages of 2,000 messages, \(many) of 30,000")
  }

  // MARK: By the token

  @Test func anEntryIsFoundByItsToken() throws {
    let store = try TestClock().store()
    try store.write { chat throws in
      for index in 0..<50 { try chat.send(own(MessageID("m\(index)"))) }
    }
    let entries = try store.entries()
    try store.read { chat throws in
      for entry in entries { #expect(try chat.outbox.entry(entry.token) == entry) }
      #expect(try chat.outbox.entry(OutboxToken.random()) == nil)
    }
    let item = try store.take()
    #expect(try store.read { try $0.outbox.entry(item.token)?.id } == item.id)
    try store.done(item)
    #expect(try store.read { try $0.outbox.entry(item.token) } == nil)
  }
}
