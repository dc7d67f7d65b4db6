import PageFile
import Testing

/// What a frame says of a page is enough to make it from the version before, and no bytes make it
/// write beside the page.
struct PagePatchTests {
  private static let pageByteCount = 4096

  /// One frame, as it travels in a commit.
  private func frames(from base: [UInt8]?, to page: [UInt8]) -> [UInt8] {
    var maker = PatchMaker()
    Bytes.with(page) { page in
      if let base {
        Bytes.with(base) { maker.appendPatch(PageNumber(7), from: $0, to: page) }
      } else {
        maker.appendFresh(PageNumber(7), page)
      }
    }
    return maker.frames.array()
  }

  /// Applies a frame to the version before; nil when it is refused.
  private func applied(_ frames: [UInt8], to base: [UInt8]) -> (page: [UInt8], PagePatch.Kind)? {
    Bytes.with(frames) { frames in
      var reader = ByteReader(frames)
      guard let frame = PagePatch.nextFrame(&reader), reader.isAtEnd,
        frame.number == PageNumber(7)
      else { return nil }
      var page = ByteBuffer()
      page.append(base)
      guard PagePatch.apply(frame, to: page.mutableBytes) else { return nil }
      return (page.bytes.array(), frame.kind)
    }
  }

  /// Another version of a page: runs of bytes changed, zeroed, or moved by a few places.
  private func changed(_ page: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var page = page
    for _ in 0..<random.below(12) {
      let count = 1 + random.below(random.below(4) == 0 ? 600 : 20)
      let start = random.below(page.count - count)
      switch random.below(3) {
      case 0: page.replaceSubrange(start..<start + count, with: random.bytes(count))
      case 1: page.replaceSubrange(start..<start + count, with: repeatElement(0, count: count))
      default:
        let moved = Array(page[start..<start + count])
        let target = random.below(page.count - count)
        page.replaceSubrange(target..<target + count, with: moved)
      }
    }
    return page
  }

  /// The checksum and the LSN, which no patch carries.
  private func behindOrigin(_ page: [UInt8]) -> ArraySlice<UInt8> { page[PagePatch.origin...] }

  @Test func patchMakesTheNextVersion() throws {
    var random = SeededGenerator()
    var base = random.bytes(Self.pageByteCount)
    for _ in 0..<120 {
      let page = changed(base, &random)
      let frames = frames(from: base, to: page)
      let (made, kind) = try #require(applied(frames, to: base))
      #expect(kind == .patch)
      #expect(behindOrigin(made) == behindOrigin(page))
      #expect(made[..<PagePatch.origin] == base[..<PagePatch.origin])
      base = page
    }
  }

  @Test func freshPageIsMadeFromZeros() throws {
    var random = SeededGenerator()
    let zeros = [UInt8](repeating: 0, count: Self.pageByteCount)
    for _ in 0..<60 {
      let page = changed(changed(zeros, &random), &random)
      let (made, kind) = try #require(applied(frames(from: nil, to: page), to: zeros))
      #expect(kind == .fresh)
      #expect(behindOrigin(made) == behindOrigin(page))
    }
  }

  @Test func equalVersionsNeedNoRange() throws {
    var random = SeededGenerator()
    let page = random.bytes(Self.pageByteCount)
    #expect(frames(from: page, to: page) == [7, PagePatch.Kind.patch.rawValue, 0])
    var other = page
    for offset in 0..<PagePatch.origin { other[offset] ^= 0xFF }
    #expect(frames(from: page, to: other).count == 3)
  }

  @Test func smallChangeMakesASmallPatch() {
    var random = SeededGenerator()
    let page = random.bytes(Self.pageByteCount)
    var other = page
    for offset in 1000..<1060 { other[offset] ^= 0x55 }
    other.replaceSubrange(2000..<3000, with: repeatElement(0, count: 1000))
    #expect(frames(from: page, to: other).count < 60 + 20)
  }

  @Test func freedPagesHaveNoRanges() throws {
    var maker = PatchMaker()
    maker.appendFreed(PageNumber(300))
    maker.appendFreed(PageNumber(.max))
    var reader = ByteReader(maker.frames)
    for number in [300, UInt32.max] {
      let frame = try #require(PagePatch.nextFrame(&reader))
      #expect(frame.kind == .freed && frame.number == PageNumber(number))
      #expect(frame.ranges.count == 0)
    }
    #expect(reader.isAtEnd)
  }

  /// A range of `word`'s length behind a gap, on a page of 4096 bytes.
  private func isApplied(gap: UInt64, word: UInt64, byteCount: Int = 0) -> Bool {
    var ranges = ByteBuffer()
    ranges.append(varint: gap)
    ranges.append(varint: word)
    ranges.append(zeros: byteCount)
    var page = ByteBuffer()
    page.append(zeros: Self.pageByteCount)
    return PagePatch.apply(ranges.bytes, to: page.mutableBytes)
  }

  @Test func rangesThatLeaveThePageAreRefused() {
    let room = UInt64(Self.pageByteCount - PagePatch.origin)
    #expect(isApplied(gap: room - 10, word: 10 << 1 | 1))
    #expect(!isApplied(gap: room - 10, word: 11 << 1 | 1))
    #expect(isApplied(gap: room - 10, word: 10 << 1, byteCount: 10))
    #expect(!isApplied(gap: room - 10, word: 11 << 1, byteCount: 11))
    #expect(!isApplied(gap: 0, word: 10 << 1, byteCount: 9))
    #expect(isApplied(gap: room, word: 0) && !isApplied(gap: room + 1, word: 0))
    #expect(!isApplied(gap: .max, word: 0) && !isApplied(gap: 0, word: .max))
    #expect(!isApplied(gap: 1, word: .max - 1))
  }

  @Test func framesThatAreNoneAreRefused() {
    let bad: [[UInt8]] = [
      [], [0, 1, 0], [7], [7, 0], [7, 4, 0], [7, 1], [7, 1, 1], [7, 2, 5, 0, 0],
      [7, 6, 0], [7, 6, 1, 1], [7, 6, 3, 1, 0, 0], [7, 6, 4, 2, 0, 0, 0],
      [0x80, 0x80, 0x80, 0x80, 0x10, 3],
    ]
    for bytes in bad {
      let isRefused = Bytes.with(bytes) { bytes in
        var reader = ByteReader(bytes)
        return PagePatch.nextFrame(&reader) == nil
      }
      #expect(isRefused, "\(bytes)")
    }
  }

  @Test func anyBytesEndInAnAnswer() {
    var random = SeededGenerator()
    var page = ByteBuffer()
    page.append(zeros: Self.pageByteCount)
    for _ in 0..<2000 {
      var bytes = random.bytes(random.below(40))
      // Mostly small numbers, so that some ranges fit the page.
      for index in bytes.indices where random.below(2) == 0 { bytes[index] &= 0x1F }
      Bytes.with(bytes) { bytes in
        _ = PagePatch.apply(bytes, to: page.mutableBytes)
        var reader = ByteReader(bytes)
        while let frame = PagePatch.nextFrame(&reader) {
          _ = PagePatch.apply(frame, to: page.mutableBytes)
        }
      }
    }
  }
}
