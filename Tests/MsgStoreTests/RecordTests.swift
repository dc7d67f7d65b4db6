import MsgStore
import PageFile
import Testing

/// Records come back as they were written, and no bytes make reading one trap.
struct RecordTests {
  private func messageRecord(_ random: inout SeededGenerator) -> [UInt8] {
    var text = ByteBuffer()
    let words = ["hello ", "привет ", "👩‍👩‍👧 ", "ok ", "漢字"]
    for _ in 0..<Int.random(in: 0..<200, using: &random) {
      text.append(words.randomElement(using: &random) ?? "")
    }
    var block = ByteBuffer()
    let isCompressed = TextCompression.compress(text.bytes, to: &block)
    var reply = ByteBuffer()
    reply.append([UInt8](repeating: 65, count: Int.random(in: 1...255, using: &random)))
    var record = MessageRecord(
      flags: random.chance(50) ? .history : [],
      status: MessageStatus.allCases.randomElement(using: &random) ?? .sent,
      sender: UInt32.random(in: 0 ... .max, using: &random), textByteCount: text.count,
      payload: isCompressed ? block.bytes : text.bytes)
    if isCompressed { record.flags.insert(.compressed) }
    let place = Place.acknowledged(Int64.random(in: .min ... .max, using: &random), sequence: nil)
    let local = random.chance(50) ? Int64.random(in: .min ... .max, using: &random) : nil
    record.setLocalTime(local, at: place)
    record.pendingSequence = random.chance(50) ? .random(in: .min ... .max, using: &random) : nil
    record.markOrdinal = random.chance(50) ? .random(in: 0 ... .max, using: &random) : nil
    if random.chance(50) {
      record.flags.insert(.reply)
      record.replyBytes = reply.bytes
    }
    var bytes = ByteBuffer()
    record.append(to: &bytes)
    guard let back = MessageRecord(bytes.bytes) else {
      Issue.record("a written record cannot be read")
      return []
    }
    #expect(back.flags == record.flags && back.status == record.status)
    #expect(back.sender == record.sender && back.localTime(at: place) == local)
    #expect(back.pendingSequence == record.pendingSequence)
    #expect(back.markOrdinal == record.markOrdinal && back.replyTo == record.replyTo)
    var backText = ByteBuffer()
    let hasText = back.appendText(to: &backText)
    #expect(hasText)
    #expect(backText.bytes.compare(to: text.bytes) == 0)
    return bytes.bytes.array()
  }

  /// Reads bytes as every kind of record; what can be read is written and read once more.
  private func decodeAll(_ bytes: [UInt8]) {
    Bytes.with(bytes) { bytes in
      if let record = MessageRecord(bytes) {
        var text = ByteBuffer()
        if !record.appendText(to: &text) { #expect(text.count == 0) }
        _ = record.replyTo
        _ = record.localTime(at: .acknowledged(.max, sequence: nil))
      }
      if let summary = ConversationSummary(bytes) {
        var written = ByteBuffer()
        summary.append(to: &written)
        #expect(ConversationSummary(written.bytes) == summary)
      }
      if let members = ConversationMembers(bytes) {
        var written = ByteBuffer()
        members.append(to: &written)
        #expect(ConversationMembers(written.bytes) == members)
      }
      _ = DraftRecord(bytes)
      _ = MembershipRecord(bytes)
      if let details = ConversationDetails(bytes) {
        var written = ByteBuffer()
        details.append(to: &written)
        #expect(ConversationDetails(written.bytes) == details)
      }
    }
  }

  @Test(arguments: seeds(4)) func messagesRoundTripAndDamageIsNoTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var bytes = messageRecord(&random)
      for _ in 0..<20 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(random.next() & 0xFF)
        if random.chance(20) { bytes.removeLast(min(bytes.count, 3)) }
        decodeAll(bytes)
      }
    }
  }

  @Test(arguments: seeds(4)) func conversationsRoundTripAndDamageIsNoTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var summary = ConversationSummary(created: .random(in: .min ... .max, using: &random))
      summary.messageCount = .random(in: 0..<1 << 40, using: &random)
      summary.unreadCount = .random(in: 0..<300, using: &random)
      summary.nextLocalOrder = .random(in: 0..<1 << 40, using: &random)
      summary.markOrdinal = .random(in: 0..<1 << 40, using: &random)
      if random.chance(50) { summary.mark = MessagePosition(.acknowledged(-5, sequence: nil), "m") }
      if random.chance(50) {
        summary.activity = .random(in: .min ... .max, using: &random)
        let id = MessageID(String(repeating: "x", count: .random(in: 1...255, using: &random)))
        summary.last = ConversationSummary.Last(
          position: MessagePosition(.pending(3, localOrder: 9), id), sender: 77, status: .failed,
          text: "привет")
      }
      var written = ByteBuffer()
      summary.append(to: &written)
      #expect(ConversationSummary(written.bytes) == summary)
      damage(written.bytes.array(), &random)

      let details = randomDetails(&random)
      written.removeAll()
      details.append(to: &written)
      #expect(ConversationDetails(written.bytes) == details)
      damage(written.bytes.array(), &random)
    }
  }

  private func randomDetails(_ random: inout SeededGenerator) -> ConversationDetails {
    func time() -> Int64 { .random(in: .min ... .max, using: &random) }
    var details = ConversationDetails(id: "room")
    details.kind = random.chance(50) ? .group : .direct
    if random.chance(50) { details.title = TextRegister("Zoë 🎈", time: time()) }
    if random.chance(30) { details.avatar = TextRegister(nil, time: time()) }
    if random.chance(50) { details.createdBy = .random(in: 0 ... .max, using: &random) }
    if random.chance(50) { details.createdAt = time() }
    if random.chance(30) { details.pinnedAt = time() }
    if random.chance(30) { details.mutedAt = time() }
    if random.chance(30) {
      details.mutedUntil = time()
      details.hasMuteEnded = random.chance(50)
    }
    if random.chance(30) { details.archivedAt = time() }
    if random.chance(30) { details.aliases = ["a", "room of one's own"] }
    details.hasDraft = random.chance(50)
    details.hasLeft = random.chance(50)
    details.participantCount = .random(in: 0..<60, using: &random)
    var listedCount = min(32, details.participantCount)
    if random.chance(40) {
      var members = ConversationMembers()
      if random.chance(50) { members.mergeComplete([], time: time()) }
      details.roster = Roster(members)
      listedCount = .random(in: 0...details.participantCount, using: &random)
    }
    details.firstParticipants = (0..<listedCount).map { _ in
      UInt32.random(in: 0 ... .max, using: &random)
    }
    return details
  }

  @Test(arguments: seeds(4)) func membersAndDraftsRoundTripAndDamageIsNoTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      var members = ConversationMembers()
      for _ in 0..<Int.random(in: 0..<20, using: &random) {
        members.merge(
          .init(
            .random(in: 0 ... .max, using: &random),
            time: .random(in: .min ... .max, using: &random),
            isActive: random.chance(50),
            joinedAt: random.chance(50) ? .random(in: .min ... .max, using: &random) : nil))
      }
      if random.chance(30) { members.mergeComplete([], time: .random(in: -9...9, using: &random)) }
      var written = ByteBuffer()
      members.append(to: &written)
      #expect(ConversationMembers(written.bytes) == members)
      damage(written.bytes.array(), &random)
      for member in members.members {
        written.removeAll()
        MembershipRecord(member).append(to: &written)
        #expect(MembershipRecord(written.bytes)?.member(member.number) == member)
        damage(written.bytes.array(), &random)
      }
      let draft = DraftRecord(
        random.chance(80) ? "привет" : nil, replyTo: random.chance(50) ? "m" : nil,
        time: .random(in: .min ... .max, using: &random))
      written.removeAll()
      draft.append(to: &written)
      let again = DraftRecord(written.bytes)
      #expect(again?.text == draft.text && again?.replyTo == draft.replyTo)
      #expect(again?.time == draft.time)
      damage(written.bytes.array(), &random)
    }
  }

  private func damage(_ bytes: [UInt8], _ random: inout SeededGenerator) {
    var bytes = bytes
    for _ in 0..<10 where !bytes.isEmpty {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(random.next() & 0xFF)
      if random.chance(20) { bytes.removeLast() }
      decodeAll(bytes)
    }
  }

  @Test(arguments: seeds(4)) func anyBytesAreARecordOrNone(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      var bytes = random.bytes(Int.random(in: 0..<60, using: &random))
      if bytes.count > 2 {
        bytes[0] = 1
        bytes[1] &= random.chance(50) ? 63 : 3
        bytes[2] &= 7
      }
      decodeAll(bytes)
    }
  }

  /// A slice refuses them, so a check and a salvage have to see them, too.
  @Test func namesOfMessagesAreText() {
    let place = Place.acknowledged(1, sequence: nil)
    var key = KeyEncoding.key(1, MessagePosition(place, "m"))
    #expect(key.bytes.dropFirst(4).position == MessagePosition(place, "m"))
    key.append([0xFF])
    #expect(key.bytes.dropFirst(4).position == nil)
    let long = KeyEncoding.key(
      1, MessagePosition(place, MessageID(String(repeating: "m", count: 256))))
    #expect(long.bytes.dropFirst(4).position == nil)
    var record = ByteBuffer()
    record.append([1, MessageRecord.Flags.reply.rawValue, 2, 1, 1, 0xFF])
    #expect(MessageRecord(record.bytes) == nil)
  }

  @Test func aDeclaredLengthOverTheLimitAllocatesNothing() {
    var bytes = ByteBuffer()
    bytes.append([1, MessageRecord.Flags.compressed.rawValue, 2, 1])
    bytes.append(varint: UInt64(TextCompression.maximumTextByteCount) + 1)
    bytes.append([0, 0, 0])
    #expect(MessageRecord(bytes.bytes) == nil)
  }

  @Test func onlyTextsThatGetSmallerAreCompressed() {
    var random = SeededGenerator(seed: 1)
    var short = ByteBuffer()
    short.append(String(repeating: "a", count: 511))
    var noise = ByteBuffer()
    noise.append(random.bytes(4000))
    var long = ByteBuffer()
    long.append(String(repeating: "abc ", count: 1000))
    var block = ByteBuffer()
    let isShortSmaller = TextCompression.compress(short.bytes, to: &block)
    let isNoiseSmaller = TextCompression.compress(noise.bytes, to: &block)
    #expect(!isShortSmaller && !isNoiseSmaller && block.count == 0)
    let isLongSmaller = TextCompression.compress(long.bytes, to: &block)
    #expect(isLongSmaller && block.count < 100)
    var back = ByteBuffer()
    for wrong in [0, 3999, 4001, TextCompression.maximumTextByteCount + 1] {
      let isTaken = TextCompression.decompress(block.bytes, byteCount: wrong, to: &back)
      #expect(!isTaken && back.count == 0)
    }
    let isTaken = TextCompression.decompress(block.bytes, byteCount: 4000, to: &back)
    #expect(isTaken && back.bytes.compare(to: long.bytes) == 0)
  }

  @Test func previewsEndAtTheBorderOfACharacter() {
    let family = "👩‍👩‍👧"  // 18 bytes
    #expect(ConversationPreview.cut(String(repeating: family, count: 20)).utf8.count == 144)
    #expect(ConversationPreview.cut(String(repeating: "a", count: 160)).utf8.count == 160)
    #expect(ConversationPreview.cut(String(repeating: "a", count: 161)).utf8.count == 160)
    #expect(ConversationPreview.cut(String(repeating: "é", count: 100)).utf8.count == 160)
    #expect(ConversationPreview.cut("a" + String(repeating: "\u{301}", count: 200)) == "")
    #expect(ConversationPreview.cut(String(repeating: "a", count: 159) + "\r\n").utf8.count == 159)
    let pieces = ["a", "\r\n", "\n", "é", "e\u{301}", family, "\u{600}", "🇩🇪", "한", "\u{200D}"]
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      var text = ""
      while text.utf8.count < 200 {
        text += pieces[Int.random(in: 0..<pieces.count, using: &numbers)]
      }
      var end = text.startIndex
      while case let next = text.index(after: end),
        text.utf8.distance(from: text.startIndex, to: next) <= 160
      {
        end = next
      }
      #expect(Array(ConversationPreview.cut(text).utf8) == Array(text[..<end].utf8))
    }
  }
}
