import MsgStore
import Testing

/// What slices hold at the edges of a thread, and what they say lies beyond.
struct SliceTests {
  private func store(_ count: Int) throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(contentsOf: (0..<count).map { message(MessageID("m\($0)"), at: Int64($0)) })
      // Neighbours in the trees, which no slice may show.
      for room: ConversationID in ["before", "later"] {
        try chat.insert(Message(in: room, from: "you", text: "no", serverTimestamp: time(5)))
      }
    }
    return store
  }

  private func names(_ range: Range<Int>) -> [String] { range.map { "m\($0)" } }

  @Test func anEmptyThreadEndsOnBothSides() throws {
    let store = try store(0)
    try store.write { try $0.putConversation("room", participants: ["me", "you"]) }
    try store.read { chat in
      for room: ConversationID in ["room", "unknown"] {
        let thread = try chat.thread(room)
        for slice in [try thread.tail(5), try thread.at(time(3), count: 5)] {
          #expect(slice.isEmpty && slice.older == .end && slice.newer == .end)
        }
      }
    }
  }

  @Test func tailsAndPagesMeet() throws {
    try store(12).read { chat in
      let thread = try chat.thread("room")
      let tail = try thread.tail(5)
      #expect(tail.ids == names(7..<12) && tail.newer == .end)
      #expect(tail.older == .more(tail[0].position))
      let middle = try thread.before(tail[0].position, count: 5)
      #expect(middle.ids == names(2..<7))
      #expect(middle.older == .more(middle[0].position))
      #expect(middle.newer == .more(middle[4].position))
      let first = try thread.before(middle[0].position, count: 5)
      #expect(first.ids == names(0..<2) && first.older == .end)
      #expect(try thread.after(first[1].position, count: 5) == middle)
      let last = try thread.after(middle[4].position, count: 6)
      #expect(last.ids == names(7..<12) && last.newer == .end)
      #expect(try thread.tail(12).older == .end)
      #expect(try thread.tail(.max).ids == names(0..<12))
    }
  }

  @Test func beyondTheEdgesNothingIsLost() throws {
    try store(3).read { chat in
      let thread = try chat.thread("room")
      let all = try thread.tail(3)
      let beforeFirst = try thread.before(all[0].position, count: 2)
      #expect(beforeFirst.isEmpty && beforeFirst.older == .end)
      guard case .more(let start) = beforeFirst.newer else {
        Issue.record("the messages behind an empty slice cannot be reached")
        return
      }
      #expect(try thread.after(start, count: 9) == all)
      let afterLast = try thread.after(all[2].position, count: 2)
      #expect(afterLast.isEmpty && afterLast.newer == .end)
      guard case .more(let end) = afterLast.older else {
        Issue.record("the messages before an empty slice cannot be reached")
        return
      }
      #expect(try thread.before(end, count: 9) == all)
    }
  }

  @Test func aroundAMessageHalfLiesBeforeIt() throws {
    try store(20).read { chat in
      let thread = try chat.thread("room")
      #expect(try thread.around("m10", count: 6).ids == names(7..<13))
      #expect(try thread.around("m10", count: 5).ids == names(8..<13))
      #expect(try thread.around("m10", count: 1).ids == ["m10"])
      #expect(try thread.around("m10", count: 2).ids == ["m9", "m10"])
      #expect(try thread.around("m1", count: 6).ids == names(0..<6))
      #expect(try thread.around("m19", count: 6).ids == names(14..<20))
      #expect(try thread.around("m3", count: 50).ids == names(0..<20))
      let middle = try thread.around("m10", count: 6)
      #expect(middle.older == .more(middle[0].position))
      #expect(middle.newer == .more(middle[5].position))
      #expect(throws: StoreError.message(.notFound, "none", in: "room")) {
        try thread.around("none", count: 5)
      }
      #expect(throws: StoreError.message(.notFound, "m1", in: "unknown")) {
        try chat.thread("unknown").around("m1", count: 5)
      }
    }
  }

  @Test func atADatePendingMessagesLieBehindAll() throws {
    let store = try store(10)
    try store.write { try $0.insert(message("waits", at: nil, from: "me", local: 0)) }
    try store.read { chat in
      let thread = try chat.thread("room")
      #expect(try thread.at(time(5), count: 4).ids == names(3..<7))
      #expect(try thread.at(time(-100), count: 4).ids == names(0..<4))
      #expect(try thread.at(time(100), count: 4).ids == ["m7", "m8", "m9", "waits"])
      #expect(try thread.at(time(100), count: 1).ids == ["waits"])
    }
    try store.write { try $0.delete("waits", in: "room") }
    try store.read { chat in
      let slice = try chat.thread("room").at(time(100), count: 1)
      #expect(slice.ids == ["m9"] && slice.newer == .end)
    }
  }

  @Test func countsBelowOneAreRefused() throws {
    try store(3).read { chat in
      let thread = try chat.thread("room")
      let position = try thread.tail(1)[0].position
      #expect(throws: StoreError.input(.count(0))) { try thread.tail(0) }
      #expect(throws: StoreError.input(.count(-1))) { try thread.before(position, count: -1) }
      #expect(throws: StoreError.input(.count(0))) { try thread.after(position, count: 0) }
      #expect(throws: StoreError.input(.count(0))) { try thread.around("m1", count: 0) }
      #expect(throws: StoreError.input(.count(.min))) { try thread.at(time(0), count: .min) }
      #expect(throws: StoreError.input(.count(0))) { try chat.conversations(count: 0) }
    }
  }

  @Test func longTextsAndManySendersComeBackExactly() throws {
    let store = try memoryStore()
    let letters: [Character] = (0..<9000).map { index in
      Character(Unicode.Scalar(UInt8(index * 7919 % 95 + 32)))
    }
    let texts = [
      String(repeating: "a longer text. ", count: 400), "e\u{301}\u{0}", String(letters),
      String(repeating: "👩‍👩‍👧", count: (1 << 20) / 18),
    ]
    try store.write { chat in
      for index in 0..<100 {
        try chat.insert(
          message(
            MessageID("m\(index)"), at: Int64(index), from: MemberID("member number \(index % 40)"),
            text: texts[index % texts.count]))
      }
    }
    let slice = try store.read { try $0.thread("room").tail(100) }
    for (index, message) in slice.enumerated() {
      #expect(message.text.hasSameBytes(as: texts[index % texts.count]))
      #expect(message.sender.string == "member number \(index % 40)")
    }
    try store.expectSound()
  }

  @Test func slicesAreValues() throws {
    let store = try store(5)
    let slice = try store.read { try $0.thread("room").tail(3) }
    let same = try store.read { try $0.thread("room").tail(3) }
    let other = try store.read { try $0.thread("room").tail(4) }
    #expect(slice == same && slice.hashValue == same.hashValue && slice != other)
    try store.close()
    #expect(slice.ids == names(2..<5) && slice.last?.id == "m4")
    #expect(slice[1...].map(\.id) == ["m3", "m4"])
  }
}
