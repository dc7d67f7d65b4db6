import PageFile
import Testing

/// The frame with the roots of trees 16 to 31 that a commit changes.
@Suite struct RootsFrameTests {
  private func roots(_ pages: [Int: UInt32], end: UInt32 = .max) -> Roots {
    var roots = Roots()
    roots.pageNumberEnd = end
    for (tree, page) in pages { roots[TreeNumber(tree)] = PageNumber(page) }
    return roots
  }

  private func frame(from old: Roots, to new: Roots) -> [UInt8] {
    var frames = ByteBuffer()
    RootsFrame.append(from: old, to: new, to: &frames)
    return frames.bytes.array()
  }

  /// Reads one frame and applies it; nil if it is refused.
  private func applied(_ bytes: [UInt8], to roots: Roots) -> Roots? {
    Bytes.with(bytes) { bytes in
      var reader = ByteReader(bytes)
      var roots = roots
      guard let frame = PagePatch.nextFrame(&reader), reader.isAtEnd, frame.kind == .roots,
        RootsFrame.apply(frame, to: &roots)
      else { return nil }
      return roots
    }
  }

  private func pages(_ roots: Roots) -> [UInt32] {
    (0..<Roots.maximumCount).map { roots[TreeNumber($0)].rawValue }
  }

  @Test func changedRootsComeBack() throws {
    var random = SeededGenerator(printedFor: #function)
    for _ in 0..<500 {
      var old = roots([:])
      for tree in 0..<Roots.maximumCount {
        old[TreeNumber(tree)] = PageNumber(UInt32(random.below(5)))
      }
      var new = old
      for _ in 0...random.below(20) {
        let isLarge = random.below(2) == 0
        let page = isLarge ? UInt32.max - 1 - UInt32(random.below(9)) : UInt32(random.below(300))
        new[TreeNumber(16 + random.below(16))] = PageNumber(page)
      }
      if pages(new) == pages(old) { continue }
      let made = try #require(applied(frame(from: old, to: new), to: old))
      #expect(pages(made) == pages(new))
    }
  }

  @Test func theFrameIsAsTheFormatSays() {
    #expect(frame(from: roots([16: 5]), to: roots([31: 300])) == [0, 5, 5, 16, 0, 31, 0xAC, 2])
    let all = (16..<32).reduce(into: [:]) { $0[$1] = UInt32.max - 1 }
    let longest = frame(from: roots([:]), to: roots(all))
    #expect(longest.count == 3 + 16 * 6 && longest[2] == 96)
  }

  @Test func malformedFramesAreRefused() {
    let good: [UInt8] = [0, 5, 4, 16, 7, 31, 9]
    let base = roots([16: 3], end: 10)
    #expect(applied(good, to: base).map(pages)?[31] == 9)
    let bad: [(String, [UInt8])] = [
      ("no entry", [0, 5, 0]), ("a page number", [1, 5, 2, 16, 7]), ("cut", [0, 5, 4, 16, 7, 31]),
      ("cut entry", [0, 5, 3, 16, 7, 31]), ("tree 15", [0, 5, 2, 15, 7]),
      ("tree 32", [0, 5, 2, 32, 7]), ("twice", [0, 5, 4, 16, 7, 16, 7]),
      ("descending", [0, 5, 4, 17, 7, 16, 7]), ("at the end", [0, 5, 2, 16, 10]),
      ("above 32 bits", [0, 5, 6, 16, 0x80, 0x80, 0x80, 0x80, 0x10]),
      ("page of no frame", [0, 1, 0]), ("freed page of no number", [0, 3]),
    ]
    for (name, bytes) in bad { #expect(applied(bytes, to: base) == nil, "\(name)") }
    for count in 0..<good.count { #expect(applied(Array(good[..<count]), to: base) == nil) }
  }

  /// Whatever a frame holds, it is refused, or all roots are below the end afterwards.
  @Test func randomFramesNeverTrap() {
    var random = SeededGenerator(printedFor: #function)
    for _ in 0..<5000 {
      let body = random.bytes(random.below(12)).map { $0 < 128 ? 16 + $0 % 18 : $0 % 24 }
      let bytes = [0, 5, UInt8(body.count)] + body
      guard let made = applied(bytes, to: roots([20: 4], end: 20)) else { continue }
      #expect(pages(made).allSatisfy { $0 < 20 })
    }
  }
}
