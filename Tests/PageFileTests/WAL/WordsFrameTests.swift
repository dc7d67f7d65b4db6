import PageFile
import Testing

/// The frame with the words that a commit changes.
struct WordsFrameTests {
  private func words(_ values: [Int: UInt64]) -> Words {
    var words = Words()
    for (index, word) in values { words[index] = word }
    return words
  }

  private func frame(from old: Words, to new: Words) -> [UInt8] {
    var frames = ByteBuffer()
    WordsFrame.append(from: old, to: new, to: &frames)
    return frames.bytes.array()
  }

  /// Reads one frame and applies it; nil if it is refused.
  private func applied(_ bytes: [UInt8], to words: Words) -> Words? {
    Bytes.with(bytes) { bytes in
      var reader = ByteReader(bytes)
      var words = words
      guard let frame = PagePatch.nextFrame(&reader), reader.isAtEnd, frame.kind == .words,
        WordsFrame.apply(frame, to: &words)
      else { return nil }
      return words
    }
  }

  /// The words that a frame names; nil if it is refused.
  private func named(_ bytes: [UInt8]) -> [Int]? {
    Bytes.with(bytes) { bytes in
      var reader = ByteReader(bytes)
      guard let frame = PagePatch.nextFrame(&reader) else { return nil }
      return WordsFrame.entries(frame)?.map(\.index)
    }
  }

  @Test func changedWordsComeBack() throws {
    var random = SeededGenerator(printedFor: #function)
    for _ in 0..<500 {
      var old = Words()
      for index in 0..<Words.count { old[index] = UInt64(random.below(5)) }
      var new = old
      for _ in 0...random.below(20) {
        let isLarge = random.below(2) == 0
        let word = isLarge ? UInt64.max - UInt64(random.below(9)) : UInt64(random.below(300))
        new[random.below(Words.count)] = word
      }
      if new == old { continue }
      let bytes = frame(from: old, to: new)
      let made = try #require(applied(bytes, to: old))
      #expect(made == new)
      #expect(named(bytes) == (0..<Words.count).filter { old[$0] != new[$0] })
    }
  }

  @Test func theFrameIsAsTheFormatSays() {
    #expect(frame(from: words([7: 5]), to: words([23: 300])) == [0, 5, 5, 7, 0, 23, 0xAC, 2])
    let all: [Int: UInt64] = (0..<Words.count).reduce(into: [:]) { $0[$1] = .max }
    let longest = frame(from: words([:]), to: words(all))
    // 24 entries of 11 bytes: their byte count is a varint of two bytes.
    #expect(longest.count == 4 + 264 && Array(longest[..<4]) == [0, 5, 0x88, 2])
    #expect(applied(longest, to: words([3: 7])) == words(all))
  }

  @Test func malformedFramesAreRefused() {
    let good: [UInt8] = [0, 5, 4, 16, 7, 23, 9]
    let base = words([16: 3, 20: 1])
    #expect(applied(good, to: base) == words([16: 7, 20: 1, 23: 9]))
    let tooLong: [UInt8] = [0, 5, 11, 16] + [UInt8](repeating: 0x80, count: 9) + [2]
    let bad: [(String, [UInt8])] = [
      ("no entry", [0, 5, 0]), ("a page number", [1, 5, 2, 16, 7]), ("cut", [0, 5, 4, 16, 7, 23]),
      ("cut entry", [0, 5, 3, 16, 7, 23]), ("word 24", [0, 5, 2, 24, 7]),
      ("word 255", [0, 5, 2, 255, 7]), ("twice", [0, 5, 4, 16, 7, 16, 7]),
      ("descending", [0, 5, 4, 17, 7, 16, 7]), ("above 64 bits", tooLong),
      ("page of no frame", [0, 1, 0]), ("freed page of no number", [0, 3]),
    ]
    for (name, bytes) in bad { #expect(applied(bytes, to: base) == nil, "\(name)") }
    for count in 0..<good.count { #expect(applied(Array(good[..<count]), to: base) == nil) }
  }

  /// Whatever a frame holds, it is refused, or changes the words that it names and no others.
  @Test func randomFramesNeverTrap() {
    var random = SeededGenerator(printedFor: #function)
    let base = words([2: 4, 20: 4])
    var appliedCount = 0
    for _ in 0..<5000 {
      let body = random.bytes(random.below(12)).map { $0 < 128 ? $0 % 26 : $0 % 24 }
      let bytes = [0, 5, UInt8(body.count)] + body
      guard let made = applied(bytes, to: base) else { continue }
      appliedCount += 1
      let names = named(bytes) ?? []
      for index in 0..<Words.count where !names.contains(index) {
        #expect(made[index] == base[index])
      }
    }
    #expect(appliedCount > 0)
  }
}
