import MsgStore
import PageFile
import Testing

/// The outline of a message's traits agrees with the traits, and no bytes make reading it trap.
struct TraitsOutlineTests {
  private func randomTraits(_ random: inout SeededGenerator) -> MessageTraits {
    var traits = MessageTraits()
    if random.chance(50) { traits.editTime = .random(in: .min ... .max, using: &random) }
    if traits.editTime != nil, random.chance(30) { traits.editName = "$edit" }
    if random.chance(30) { traits.expiryTime = .random(in: .min ... .max, using: &random) }
    if traits.expiryTime != nil, random.chance(50) { traits.marks.insert(.expired) }
    if random.chance(30) { traits.deliveredAt = .random(in: .min ... .max, using: &random) }
    if random.chance(30) { traits.readAt = .random(in: .min ... .max, using: &random) }
    for mark: MessageTraits.Bits in [.versions, .attachments, .seen] where random.chance(40) {
      traits.marks.insert(mark)
    }
    if random.chance(50) {
      traits.mentions = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        .random(in: 0 ... .max, using: &random)
      }
    }
    if random.chance(50) {
      traits.marks.insert(.reactions)
      var counts = ReactionCounts()
      for _ in 0..<Int.random(in: 0..<9, using: &random) {
        counts.add(["👍", "❤️", "é", "x"].randomElement(using: &random) ?? "x", isOwn: false)
      }
      traits.reactionCounts = counts
    }
    return traits
  }

  private func bytes(_ traits: MessageTraits) -> [UInt8] {
    var buffer = ByteBuffer()
    traits.append(to: &buffer)
    return buffer.bytes.array()
  }

  @Test(arguments: seeds(3)) func itAgreesWithTheTraits(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<400 {
      let traits = randomTraits(&random)
      var bytes = bytes(traits)
      #expect(traits.isEmpty || isOutlined(bytes) == (traits.editName == nil))
      #expect(traits.isEmpty || Bytes.with(bytes) { MessageTraits($0) } == traits)
      for _ in 0..<20 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(random.next() & 0xFF)
        if random.chance(10) { bytes.removeLast(min(bytes.count, 3)) }
        _ = isOutlined(bytes)
      }
      _ = isOutlined(random.bytes(.random(in: 0..<40, using: &random)))
    }
  }

  /// Whether the bytes have an outline, which must be that of traits.
  private func isOutlined(_ bytes: [UInt8]) -> Bool {
    Bytes.with(bytes) { bytes in
      guard let outline = TraitsOutline(bytes) else { return false }
      guard let traits = MessageTraits(bytes) else {
        Issue.record("an outline of bytes that are no traits")
        return true
      }
      #expect(outline.bits == traits.bits && outline.mentionCount == traits.mentions.count)
      let counted = traits.reactionCounts?.all.reduce(0) { $0 + $1.count }
      #expect(outline.reactionCount == counted ?? 0)
      return true
    }
  }

  @Test func uncommonTraitsHaveNone() {
    var named = MessageTraits()
    named.names = ["other"]
    var retracted = MessageTraits()
    retracted.marks = .retracted
    var uncounted = MessageTraits()
    uncounted.marks = .reactions
    for traits in [named, retracted, uncounted] {
      #expect(!isOutlined(bytes(traits)))
    }
  }
}
