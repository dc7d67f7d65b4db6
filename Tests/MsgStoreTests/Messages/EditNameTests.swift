import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The server's own ids of edits: each stays with its edit, in whatever order edits come.
struct EditNameTests {
  /// The shown text with its edit's id, and the history's.
  private func texts(_ store: MessageStore) throws -> [String] {
    try store.read { chat throws in
      let shown = try #require(try chat.message("m", in: "room"))
      let versions = try chat.history(of: "m", in: "room")
      return ["\(shown.text) \(shown.editServerName?.string ?? "-")"]
        + versions.map { "\($0.text) \($0.serverName?.string ?? "-")" }
    }
  }

  @Test(arguments: seeds(4)) func editsBringTheirIDsInAnyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // One id is told late, one twice otherwise, one never.
    let edits: [(String, Int64, MessageID?)] = [
      ("one", 10, "e1"), ("two", 20, nil), ("two", 20, "e2"), ("two", 20, "e0"), ("three", 30, nil),
      ("four", 40, nil), ("four", 40, "e4"),
    ]
    for isPacked in [true, false] {
      for _ in 0..<6 {
        let store = try memoryStore(packs: isPacked, packing: .random(seed))
        // One of them comes in a copy, before or after the others.
        var copy = message("m", at: 1, text: "four")
        (copy.editedAt, copy.editServerName) = (time(40), "e3")
        let first = message("m", at: 1, text: "first")
        let place = Int.random(in: 0...edits.count, using: &random)
        for (index, (text, moment, name)) in edits.shuffled(using: &random).enumerated() {
          if index == place { try store.write { _ = try $0.insert(copy) } }
          try store.write { chat in
            _ = try chat.receiveEdit(
              of: "m", in: "room", text: text, at: time(moment), serverName: name)
          }
        }
        try store.write { chat throws in
          try chat.insert(first)
          try chat.insert(copy)
        }
        #expect(
          try texts(store) == ["four e4", "first -", "one e1", "two e2", "three -"],
          "seed \(seed)")
        let isCommit = try store.commits { chat throws in
          for (text, moment, name) in edits {
            #expect(
              try !chat.receiveEdit(
                of: "m", in: "room", text: text, at: time(moment), serverName: name))
          }
        }
        #expect(!isCommit)
        try store.expectSound()
        let lines = try store.lines()
        let restored = try MessageStore.restored(from: lines)
        #expect(try restored.lines() == lines)
        #expect(try texts(restored) == texts(store))
        try restored.close()
        try store.write { _ = try $0.receiveRetraction(of: "m", in: "room") }
        #expect(try store.message("m")?.editServerName == nil)
        try store.expectSound()
        try store.close()
      }
    }
  }

  @Test func anAnswerGivesAnEditItsID() throws {
    for (moment, isReplaced) in [(nil, false), (300, false), (nil, true), (300, true)]
      as [(Int64?, Bool)]
    {
      let store = try TestClock(100).store()
      try store.write { chat throws in
        try chat.insert(message("m", at: 1, from: "me", text: "first"))
        _ = try chat.edit("m", in: "room", text: "second")
      }
      let item = try #require(try store.write { try $0.outbox.next(for: "w") })
      try store.write { chat throws in
        if isReplaced {
          try chat.receiveEdit(of: "m", in: "room", text: "third", at: time(900))
        }
        #expect(
          try chat.outbox.complete(item, serverTime: moment.map { time($0) }, serverName: "$e"))
      }
      #expect(
        try texts(store)
          == (isReplaced ? ["third -", "first -", "second $e"] : ["second $e", "first -"]))
      #expect(try store.message("m")?.syncStatus == .synced)
      // The server's copy says the same once more.
      if let moment {
        #expect(
          try !store.commits { chat in
            _ = try chat.receiveEdit(
              of: "m", in: "room", text: "second", at: time(moment), serverName: "$e")
          })
      }
      try store.expectSound()
      try store.close()
    }
  }

  @Test func anIDThatIsTooLongIsRefused() throws {
    let store = try memoryStore()
    let name = MessageID(String(repeating: "x", count: 256))
    try store.write { chat throws in
      try chat.insert(message("m", at: 1))
      #expect(throws: StoreError.self) {
        try chat.receiveEdit(of: "m", in: "room", text: "x", at: time(2), serverName: name)
      }
      var copy = message("n", at: 1)
      (copy.editedAt, copy.editServerName) = (time(3), name)
      #expect(throws: StoreError.self) { try chat.insert(copy) }
      // Without an edit it says nothing.
      copy.editedAt = nil
      copy.editServerName = "e"
      try chat.insert(copy)
      #expect(try chat.message("n", in: "room")?.editServerName == nil)
    }
    try store.expectSound()
  }

  @Test func aSalvageKeepsThem() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat throws in
      try chat.insert(message("m", at: 1, text: "first"))
      for (text, moment, name) in [("one", 10, "e1"), ("two", 20, "e2")]
        as [(String, Int64, MessageID)]
      {
        try chat.receiveEdit(of: "m", in: "room", text: text, at: time(moment), serverName: name)
      }
    }
    let lines = try store.lines()
    try store.close()
    let text = String(decoding: lines, as: UTF8.self)
    #expect(text.contains(#""edit_server_name":"e2""#) && text.contains(#""server_name":"e1""#))
    #expect(try SalvageSubject(directory).salvage().saved.isWhole)
  }
}
