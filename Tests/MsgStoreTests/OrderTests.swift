import MsgStore
import PageFile
import Testing

/// The bytes of a key sort as the sentences of the order say.
struct OrderTests {
  private func randomPlace(_ random: inout SeededGenerator, order: Int64) -> NaivePlace {
    let times: [Int64] = [.min, -1, 0, 1, 255, 256, 1_700_000_000_000_000, .max]
    let ids = [
      "a", "b", "ab", "a\u{0}", "é", "e\u{301}", "zz", "\u{10FFFF}", "-Nabcdefghijklmnopqr",
    ]
    let time = times.randomElement(using: &random) ?? 0
    let isPending = random.chance(40)
    return NaivePlace(
      serverTime: isPending ? nil : time,
      sequence: isPending || random.chance(30) ? nil : times.randomElement(using: &random),
      localTime: time, localOrder: order, id: ids.randomElement(using: &random) ?? "a")
  }

  @Test(arguments: seeds(4)) func keysSortAsThePlacesDo(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for step in 0..<5000 {
      let a = randomPlace(&random, order: Int64(step))
      let b = randomPlace(&random, order: Int64(random.chance(50) ? step + 1 : step - 1))
      let keyA = KeyEncoding.key(7, a.position)
      let keyB = KeyEncoding.key(7, b.position)
      let order = keyA.bytes.compare(to: keyB.bytes)
      #expect((order < 0) == NaivePlace.precedes(a, b), "\(a) \(b)")
      #expect((order > 0) == NaivePlace.precedes(b, a), "\(a) \(b)")
      #expect((a.position < b.position) == (order < 0))
      #expect((a.position == b.position) == (order == 0))
      #expect(keyA.bytes.dropFirst(4).position == a.position)
      // The empty places bound all others.
      let start = KeyEncoding.key(7, MessagePosition(.start, ""))
      let end = KeyEncoding.key(7, MessagePosition(.end, ""))
      #expect(start.bytes.compare(to: keyA.bytes) < 0 && end.bytes.compare(to: keyA.bytes) > 0)
    }
  }

  @Test(arguments: seeds(2)) func anyBytesAreAPositionOrNone(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      var bytes = random.bytes(Int.random(in: 0..<40, using: &random))
      if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...3, using: &random) }
      let isSame = Bytes.with(bytes) { bytes in
        guard let position = bytes.position else { return true }
        let key = KeyEncoding.key(0, position)
        return key.bytes.dropFirst(4).compare(to: bytes) == 0
      }
      #expect(isSame, "\(bytes)")
    }
  }
}
