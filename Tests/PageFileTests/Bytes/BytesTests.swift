import PageFile
import Testing

/// Comparing and scanning a word at a time gives what a look at each byte gives.
struct BytesTests {
  /// Two arrays that agree for a while, as keys and versions of a page do.
  private func relatives(_ random: inout SeededGenerator, sameLength: Bool) -> ([UInt8], [UInt8]) {
    let shared = random.bytes(random.below(40))
    let mine = shared + random.bytes(random.below(20))
    if !sameLength { return (mine, shared + random.bytes(random.below(20))) }
    var theirs = mine
    for _ in 0..<random.below(4) where !theirs.isEmpty {
      theirs[random.below(theirs.count)] ^= UInt8(1 + random.below(255))
    }
    return (mine, theirs)
  }

  @Test func orderIsThatOfArrays() {
    var random = SeededGenerator()
    for round in 0..<1500 {
      let (mine, theirs) = relatives(&random, sameLength: round % 3 == 0)
      let order = Bytes.with(mine) { mine in Bytes.with(theirs) { mine.compare(to: $0) } }
      if mine == theirs {
        #expect(order == 0)
      } else {
        #expect((order < 0) == mine.lexicographicallyPrecedes(theirs))
        #expect(order != 0)
      }
    }
  }

  @Test func sharedPrefixIsTheLongest() {
    var random = SeededGenerator()
    for _ in 0..<800 {
      let (mine, theirs) = relatives(&random, sameLength: false)
      let found = Bytes.with(mine) { mine in
        Bytes.with(theirs) { mine.sharedPrefixByteCount(with: $0) }
      }
      #expect(found == zip(mine, theirs).prefix { $0 == $1 }.count)
    }
  }

  @Test func bigEndianHeadOrdersLikeTheBytes() {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    Bytes.with(bytes) { bytes in
      #expect(bytes.bigEndianHead(at: 0, byteCount: 9) == 0x0102_0304_0506_0708)
      #expect(bytes.bigEndianHead(at: 1, byteCount: 8) == 0x0203_0405_0607_0809)
      #expect(bytes.bigEndianHead(at: 7, byteCount: 2) == 0x0809_0000_0000_0000)
      #expect(bytes.bigEndianHead(at: 9, byteCount: 0) == 0)
      #expect(bytes.bigEndian64(at: 1) == 0x0203_0405_0607_0809)
    }
  }

  @Test func differencesAndEqualitiesAreFoundWhereTheyAre() {
    var random = SeededGenerator()
    for _ in 0..<800 {
      let (mine, theirs) = relatives(&random, sameLength: true)
      let start = random.below(mine.count + 1)
      let places = Array(mine.indices[start...])
      Bytes.with(mine) { a in
        Bytes.with(theirs) { b in
          #expect(
            a.firstDifference(from: b, at: start)
              == places.first { mine[$0] != theirs[$0] } ?? mine.count)
          #expect(
            a.firstEquality(with: b, at: start)
              == places.first { mine[$0] == theirs[$0] } ?? mine.count)
        }
      }
    }
  }

  @Test func zerosAreFoundWhereTheyAre() {
    var random = SeededGenerator()
    for _ in 0..<800 {
      var bytes = random.bytes(random.below(60))
      for index in bytes.indices where random.below(3) > 0 { bytes[index] = 0 }
      let start = random.below(bytes.count + 1)
      let end = start + random.below(bytes.count - start + 1)
      let byteCount = 1 + random.below(6)
      let run = (start..<end).first { place in
        place + byteCount <= bytes.count
          && bytes[place..<place + byteCount].allSatisfy { $0 == 0 }
      }
      Bytes.with(bytes) { view in
        #expect(
          view.firstNonzero(at: start)
            == bytes.indices[start...].first { bytes[$0] != 0 } ?? bytes.count)
        #expect(view.firstZeroRun(at: start, before: end, byteCount: byteCount) == run ?? end)
      }
    }
  }

  @Test func readingOutsideTraps() async {
    await #expect(processExitsWith: .failure) { Bytes.with([1, 2]) { _ = $0[2] } }
    await #expect(processExitsWith: .failure) { Bytes.with([1, 2]) { _ = $0.slice(1, 2) } }
    await #expect(processExitsWith: .failure) { Bytes.with([1, 2]) { _ = $0.uint32(at: -1) } }
  }

  @Test func bufferGrowsKeepsAndForgets() {
    var buffer = ByteBuffer(capacity: 1)
    buffer.append("héllo")
    buffer.append(zeros: 100)
    buffer.append(bigEndian: UInt32(7))
    #expect(
      buffer.bytes.array() == Array("héllo".utf8) + [UInt8](repeating: 0, count: 100) + [
        0, 0, 0, 7,
      ])
    buffer.truncate(to: 6)
    #expect(buffer.bytes.isValidUTF8 && buffer.bytes.repairedText() == "héllo")
    #expect(!buffer.bytes.slice(0, 2).isValidUTF8)
    buffer.removeAll()
    #expect(buffer.count == 0)
  }
}
