import PageFile
import Testing

/// A cell that is put in or taken out moves the pointers behind it: a frame says so instead of
/// carrying them.
struct MovedPatchTests {
  private static let pageByteCount = 4096

  /// A leaf with cells in the order of their keys, the newest at the low end.
  private func leaf(_ count: Int) -> ByteBuffer {
    var page = ByteBuffer()
    page.append(zeros: Self.pageByteCount)
    page.mutableBytes.store(UInt32(7), at: PageHeader.numberOffset)
    page.mutableBytes[PageHeader.kindOffset] = PageKind.leaf.rawValue
    let editor = TreePageEditor(
      formatting: page.mutableBytes, prefix: .none, prefixByteCount: 0)
    for number in 0..<count { insert(number * 2, into: editor) }
    return page
  }

  private func insert(_ number: Int, into editor: TreePageEditor) {
    var key = ByteBuffer()
    key.append(bigEndian: UInt64(number))
    var value = ByteBuffer()
    value.append(littleEndian: UInt32(number))
    let index = editor.page.search(key.bytes).index
    #expect(editor.insert(Cell(CellKey(key.bytes), .value(value.bytes)), at: index))
  }

  private func copy(_ page: borrowing ByteBuffer) -> ByteBuffer {
    var copy = ByteBuffer()
    copy.append(page.bytes)
    return copy
  }

  /// The frame from one version to the next, after seeing that it makes the one from the other.
  private func frame(from base: borrowing ByteBuffer, to page: borrowing ByteBuffer) throws
    -> [UInt8]
  {
    var maker = PatchMaker()
    maker.appendPatch(PageNumber(7), from: base.bytes, to: page.bytes)
    let made = copy(base)
    var reader = ByteReader(maker.frames)
    let frame = try #require(PagePatch.nextFrame(&reader))
    #expect(reader.isAtEnd && frame.kind == .patch)
    #expect(PagePatch.apply(frame, to: made.mutableBytes))
    #expect(made.bytes.array() == page.bytes.array())
    return maker.frames.array()
  }

  @Test func pointersBehindANewCellAreMoved() throws {
    let base = leaf(100)
    for number in [1, 51, 99, 151] {
      let page = copy(base)
      insert(number, into: TreePageEditor(page.mutableBytes))
      let frame = try frame(from: base, to: page)
      #expect(frame[1] == PagePatch.movingKind)
      #expect(frame.count < 50, "cell \(number): \(frame.count) bytes")
    }
    let page = copy(base)
    insert(1000, into: TreePageEditor(page.mutableBytes))
    #expect(try frame(from: base, to: page)[1] == PagePatch.Kind.patch.rawValue)
  }

  @Test func pointersBehindARemovedCellAreMoved() throws {
    let base = leaf(100)
    for index in [0, 50, 90] {
      let page = copy(base)
      TreePageEditor(page.mutableBytes).remove(at: index)
      let frame = try frame(from: base, to: page)
      #expect(frame[1] == PagePatch.movingKind)
      #expect(frame.count < 50, "cell \(index): \(frame.count) bytes")
    }
  }

  @Test func pointersBetweenARemovedAndANewCellAreMoved() throws {
    let base = leaf(100)
    for (old, new) in [(10, 151), (80, 3), (0, 1001)] {
      let page = copy(base)
      let editor = TreePageEditor(page.mutableBytes)
      editor.remove(at: old)
      insert(new, into: editor)
      let frame = try frame(from: base, to: page)
      #expect(frame[1] == PagePatch.movingKind)
      #expect(frame.count < 60, "\(old) to \(new): \(frame.count) bytes")
    }
  }

  @Test func anyEditsMakeTheNextVersion() throws {
    var random = SeededGenerator(printedFor: #function)
    var base = leaf(60)
    for _ in 0..<300 {
      let page = copy(base)
      let editor = TreePageEditor(page.mutableBytes)
      for _ in 0..<1 + random.below(4) {
        let count = editor.page.cellCount
        if count > 20 && (random.below(2) == 0 || count > 150) {
          editor.remove(at: random.below(count))
        } else {
          let number = random.below(100_000) * 2 + 1
          var key = ByteBuffer()
          key.append(bigEndian: UInt64(number))
          if !editor.page.search(key.bytes).isEqual { insert(number, into: editor) }
        }
      }
      _ = try frame(from: base, to: page)
      base = copy(page)
    }
  }

  @Test func movesThatLeaveThePageAreRefused() throws {
    let room = UInt64(Self.pageByteCount - PagePatch.origin)
    let cases: [(source: UInt64, target: UInt64, byteCount: UInt64, isApplied: Bool)] = [
      (0, 2, room - 2, true), (2, 0, room - 2, true), (0, room, 0, true),
      (0, 2, room - 1, false), (2, 0, room - 1, false), (0, room + 1, 0, false),
    ]
    for (source, target, byteCount, isApplied) in cases {
      let frame = movingFrame([source, target, byteCount])
      var reader = ByteReader(frame.bytes)
      let read = try #require(PagePatch.nextFrame(&reader))
      var page = ByteBuffer()
      page.append(zeros: Self.pageByteCount)
      #expect(PagePatch.apply(read, to: page.mutableBytes) == isApplied)
    }
    let none: [[UInt64]] = [
      [], [1], [1, 2], [.max, 0, 0], [0, .max, 0], [0, 0, .max], [1 << 20, 0, 0],
    ]
    for numbers in none {
      let frame = movingFrame(numbers)
      var reader = ByteReader(frame.bytes)
      #expect(PagePatch.nextFrame(&reader) == nil)
    }
  }

  private func movingFrame(_ numbers: [UInt64]) -> ByteBuffer {
    var move = ByteBuffer()
    for number in numbers { move.append(varint: number) }
    var frame = ByteBuffer()
    frame.append(UInt8(7))
    frame.append(PagePatch.movingKind)
    frame.append(varint: UInt64(move.count))
    frame.append(move.bytes)
    return frame
  }
}
