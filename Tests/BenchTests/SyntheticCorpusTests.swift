import Testing
import msgstore_bench

/// The made-up corpus has the proportions of real chat, as `docs/benchmark.md` has them.
struct SyntheticCorpusTests {
  /// A tenth of the real corpus is enough to count.
  private static let count = CorpusCount(madeUp: 40_000, seed: 1)

  /// Returns true if a value is within a share of what was measured.
  private func isNear(_ value: Double, _ measured: Double, within share: Double) -> Bool {
    abs(value - measured) <= share * measured
  }

  @Test func conversationsHaveTheSizesOfRealOnes() {
    let count = Self.count
    #expect(isNear(count.largestShare, 0.456, within: 0.05))
    let measured = [0.499, 0.535, 0.856, 0.995, 0.999]
    for (share, measured) in zip(count.sizeShares, measured) {
      #expect(isNear(share, measured, within: 0.08))
    }
    #expect(isNear(count.sendersPerHundred, 21.1, within: 0.15))
    #expect(isNear(count.runShare, 0.090, within: 0.2))
  }

  @Test func timesAndRepliesAreLikeRealOnes() {
    let count = Self.count
    #expect(isNear(count.equalTimeShare, 0.396, within: 0.1))
    #expect(isNear(count.replyShare, 0.117, within: 0.1))
    #expect(count.replyDistances.prefix(3) == [1, 3, 6])
    #expect(isNear(Double(count.replyDistances[3]), 82, within: 0.3))
    #expect(isNear(count.lateShare, 0.005, within: 0.3))
  }

  @Test func textsHaveTheLengthsOfRealOnes() {
    let count = Self.count
    #expect(isNear(count.meanByteCount, 71.3, within: 0.1))
    for (length, measured) in zip(count.byteCounts, [8, 27, 49, 84, 182, 383, 1_527]) {
      #expect(isNear(Double(length), Double(measured), within: 0.25))
    }
  }

  @Test func textsHaveTheScriptsAndHabitsOfRealOnes() {
    let count = Self.count
    #expect(isNear(count.scripts["Latin"] ?? 0, 0.876, within: 0.05))
    #expect(isNear(count.scripts["Hangul"] ?? 0, 0.0645, within: 0.2))
    #expect(isNear(count.scripts["Han"] ?? 0, 0.0455, within: 0.2))
    #expect(isNear(count.scripts["Japanese"] ?? 0, 0.0098, within: 0.5))
    // The sources have next to nothing of these; their share is chosen.
    #expect((0.001..<0.01).contains(count.scripts["Cyrillic"] ?? 0))
    #expect((0.001..<0.01).contains(count.scripts["Arabic or Hebrew"] ?? 0))
    // The more messages, the more texts come again: 17.5 % of all 439,085.
    #expect((0.1..<0.2).contains(count.repeatedShare))
    #expect(isNear(count.linkShare, 0.027, within: 0.3))
    #expect((0.0005..<0.004).contains(count.emojiShare))
    #expect((0.004..<0.02).contains(count.lineShare))
  }

  @Test func fewMessagesHaveTheRest() {
    let count = Self.count
    #expect(isNear(count.mentionShare, 0.195, within: 0.1))
    #expect(isNear(count.reactionShare, 0.019, within: 0.2))
    #expect(isNear(count.attachmentShare, 0.058, within: 0.1))
    #expect(isNear(count.editShare, 0.019, within: 0.2))
  }

  @Test func theSeedDecides() {
    let first = CorpusCount(madeUp: 3_000, seed: 5)
    #expect(first.text == CorpusCount(madeUp: 3_000, seed: 5).text)
    #expect(first.text != CorpusCount(madeUp: 3_000, seed: 6).text)
  }
}
