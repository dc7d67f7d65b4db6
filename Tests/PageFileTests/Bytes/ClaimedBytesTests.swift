import Testing

@testable import PageFile

struct ClaimedBytesTests {
  /// Random ranges, of the same as a set of numbers says.
  @Test func nothingIsClaimedTwice() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<50 {
      var claimed = ClaimedBytes()
      var expected: Set<Int> = []
      for _ in 0..<50 {
        let start = next(32_768)
        let end = min(32_768, start + 1 + next(next(2) == 0 ? 20 : 2_000))
        let isFree = expected.isDisjoint(with: start..<end)
        #expect(claimed.claim(start, end) == isFree, "seed \(seed)")
        // After a refusal it is not said which of the bytes are claimed.
        guard isFree else { break }
        expected.formUnion(start..<end)
      }
    }
  }

  @Test func theEndsOfThePageCanBeClaimed() {
    var claimed = ClaimedBytes()
    let first = claimed.claim(0, 1)
    let last = claimed.claim(32_767, 32_768)
    let again = claimed.claim(32_767, 32_768)
    #expect(first && last && !again)
  }
}
