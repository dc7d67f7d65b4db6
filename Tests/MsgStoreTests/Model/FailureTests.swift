import MsgStore
import PageFile
import Testing

/// Failures come back as they were written, and no bytes make reading one trap.
struct FailureTests {
  private func written(_ failure: SendFailure) -> [UInt8] {
    var buffer = ByteBuffer()
    failure.append(to: &buffer)
    return buffer.bytes.array()
  }

  private func read(_ bytes: [UInt8]) -> SendFailure? {
    Bytes.with(bytes) { bytes in
      var reader = ByteReader(bytes)
      return SendFailure(&reader)
    }
  }

  @Test(arguments: seeds(2)) func failuresRoundTripAndDamageIsNoTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let failure = SendFailure(
        FailureKind.allCases.randomElement(using: &random) ?? .other,
        code: random.chance(50) ? .random(in: .min ... .max, using: &random) : nil,
        text: String(repeating: "нет 👋", count: .random(in: 0..<200, using: &random)))
      var bytes = written(failure)
      #expect(read(bytes) == failure)
      #expect(read(bytes.dropLast()) == nil)
      for _ in 0..<10 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(random.next() & 0xFF)
        if let other = read(bytes) { #expect(read(written(other)) == other) }
      }
    }
  }

  @Test func aLongTextKeepsItsBeginning() {
    #expect(SendFailure(.other, text: String(repeating: "a", count: 1025)).text.utf8.count == 1024)
    // 1 + 2n: the limit lies within a scalar, which goes.
    let odd = "a" + String(repeating: "\u{301}", count: 600)
    #expect(Array(SendFailure(.other, text: odd).text.utf8) == Array(odd.utf8.prefix(1023)))
    #expect(SendFailure(.timeOut, code: 504, text: "late").text == "late")
  }

  @Test func textsAreComparedByTheirBytes() {
    let composed = SendFailure(.invalid, text: "caf\u{E9}")
    let decomposed = SendFailure(.invalid, text: "cafe\u{301}")
    #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
  }
}
