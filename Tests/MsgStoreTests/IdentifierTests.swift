import MsgStore
import Testing

/// Identifiers are bytes: what looks the same may be different, and nothing is lost.
struct IdentifierTests {
  @Test func canonicallyEqualNamesAreDifferent() throws {
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    #expect(composed == decomposed)
    #expect(MessageID(composed) != MessageID(decomposed))
    #expect(ConversationID(composed) != ConversationID(decomposed))
    #expect(MemberID(composed) != MemberID(decomposed))
    #expect(Set([MemberID(composed), MemberID(decomposed)]).count == 2)
    #expect(Set([MessageID(composed), MessageID(decomposed)]).count == 2)

    let store = try memoryStore()
    try store.write { chat in
      for conversation in [composed, decomposed] {
        for id in [composed, decomposed] {
          let outcome = try chat.insert(
            Message(
              id: MessageID(id), in: ConversationID(conversation), from: MemberID(id), text: id,
              serverTimestamp: time(1)))
          #expect(outcome == .inserted)
        }
      }
    }
    try store.read { chat in
      #expect(try chat.conversations(count: 9).count == 2)
      for conversation in [composed, decomposed] {
        let tail = try chat.thread(ConversationID(conversation)).tail(9)
        // Byte order: "e" comes before "é".
        #expect(tail.map { Array($0.text.utf8) } == [Array(decomposed.utf8), Array(composed.utf8)])
        #expect(tail.map { Array($0.id.string.utf8) } == tail.map { Array($0.text.utf8) })
        #expect(tail.map { Array($0.sender.string.utf8) } == tail.map { Array($0.text.utf8) })
      }
    }
    try store.expectSound()
  }

  @Test(arguments: seeds(2)) func messageIDsCompareAsTheirBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters = ["a", "b", "\u{0}", "é", "𝄞", "z"]
    func text() -> String {
      let base = String(
        repeating: "a", count: [0, 1, 7, 15, 23, 29, 31, 40].randomElement(using: &random) ?? 0)
      return base
        + (0..<Int.random(in: 0..<5, using: &random)).map { _ in
          letters.randomElement(using: &random) ?? ""
        }.joined()
    }
    for _ in 0..<20_000 {
      let a = text()
      let b = text()
      let bytesA = Array(a.utf8)
      let bytesB = Array(b.utf8)
      #expect((MessageID(a) == MessageID(b)) == (bytesA == bytesB))
      #expect((MessageID(a) < MessageID(b)) == bytesA.lexicographicallyPrecedes(bytesB))
      #expect(Array(MessageID(a).string.utf8) == bytesA)
      #expect(MessageID(a).byteCount == bytesA.count)
      if bytesA == bytesB { #expect(MessageID(a).hashValue == MessageID(b).hashValue) }
    }
  }

  @Test func randomNamesAreNewAndSortByTime() {
    let ids = (0..<1000).map { _ in MessageID.random() }
    #expect(Set(ids).count == 1000)
    #expect(ids.allSatisfy { $0.byteCount == 20 })
    #expect(ids[0].string.prefix(8) <= ids[999].string.prefix(8))
  }

  @Test func messagesKeepTheirFields() {
    var message = Message(id: "m", in: "room", from: "ann", text: "x")
    #expect(message.status == .pending && message.serverTimestamp == nil)
    #expect(message.localTime == nil && message.sequence == nil && message.replyTo == nil)
    message.serverTimestamp = Timestamp(seconds: 2)
    message.sequence = .min
    message.localTime = Timestamp(milliseconds: -3)
    message.replyTo = "other"
    #expect(message.serverTimestamp == time(2_000_000) && message.sequence == .min)
    #expect(message.localTime == time(-3000) && message.replyTo == "other")
    var other = message
    #expect(other == message && other.hashValue == message.hashValue)
    other.sequence = nil
    #expect(other != message && other.sequence == nil)
    other = message
    other.text = "e\u{301}"
    message.text = "\u{E9}"
    #expect(other != message)
  }
}
