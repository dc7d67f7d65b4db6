import PageFile
import Testing

/// A page that is laid out anew logs where its cells went, not the cells.
struct RearrangedPageTests {
  private static let pageByteCount = 4096
  private let account = ImageAccount()
  private let seed = SeededGenerator.freshSeed()

  /// A leaf with cells of these keys and values, put in one after the other.
  private func leaf(_ cells: [([UInt8], [UInt8])]) -> PageImage {
    let image = PageImage(pageByteCount: Self.pageByteCount, account: account)
    let bytes = image.mutableBytes
    bytes.zero(0, bytes.count)
    bytes[PageHeader.kindOffset] = PageKind.leaf.rawValue
    let editor = TreePageEditor(formatting: bytes, prefix: .none, prefixByteCount: 0)
    for (key, value) in cells { put(key, value, editor) }
    return image
  }

  private func put(_ key: [UInt8], _ value: [UInt8], _ editor: TreePageEditor) {
    Bytes.with(key) { key in
      Bytes.with(value) { value in
        let index = editor.page.search(key).index
        let isIn = editor.insert(Cell(CellKey(key), .value(value)), at: index)
        #expect(isIn)
      }
    }
  }

  /// A copy of a page that notes its changes, changed by `body`.
  private func changed(_ base: PageImage, _ body: (TreePageEditor) -> Void) -> PageImage {
    let image = PageImage(pageByteCount: Self.pageByteCount, account: account)
    image.mutableBytes.copy(base.bytes, to: 0)
    image.edited.removeAll()
    body(TreePageEditor(image.mutableBytes, noting: image.edited))
    return image
  }

  private func frames(from base: PageImage, to page: PageImage) -> [UInt8] {
    var maker = PatchMaker()
    maker.appendPatch(PageNumber(7), from: base.bytes, to: page.bytes, edited: page.edited)
    return maker.frames.array()
  }

  private func applied(_ frames: [UInt8], to base: PageImage) throws -> [UInt8] {
    try Bytes.with(frames) { frames in
      var reader = ByteReader(frames)
      let frame = try #require(PagePatch.nextFrame(&reader))
      #expect(reader.isAtEnd && frame.kind == .patch)
      var page = ByteBuffer()
      page.append(base.bytes)
      let isApplied = PagePatch.apply(frame, to: page.mutableBytes)
      #expect(isApplied)
      return page.bytes.array()
    }
  }

  private func someCells(_ count: Int, _ random: inout SeededGenerator) -> [([UInt8], [UInt8])] {
    (0..<count).map { _ in ([1, 2] + random.bytes(6), random.bytes(30 + random.below(40))) }
  }

  @Test func aRewrittenPageIsMadeOfTheVersionBefore() throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let base = leaf(someCells(1 + random.below(45), &random))
      let page = changed(base) { editor in
        for _ in 0..<random.below(8) where editor.page.cellCount > 1 {
          editor.remove(at: random.below(editor.page.cellCount))
        }
        var list = CellList(copying: editor.page)
        let value = random.bytes(random.below(40))
        let key = [1] + random.bytes(6)
        Bytes.with(key) { key in
          Bytes.with(value) { value in
            if random.below(2) == 0 {
              list.insert(
                Cell(CellKey(key), .value(value)), at: editor.page.search(key).index)
            }
            // All of them, or those of a page that is split.
            let end = random.below(2) == 0 ? list.count : 1 + random.below(list.count)
            list.write(0..<end, to: editor)
          }
        }
      }
      let made = try applied(frames(from: base, to: page), to: base)
      let isEqual = made[PagePatch.origin...] == page.bytes.array()[PagePatch.origin...]
      #expect(isEqual)
      base.release()
      page.release()
    }
  }

  @Test func rewritingAPageLogsAFractionOfIt() {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let base = leaf(someCells(55, &random))
    let page = changed(base) { editor in
      for _ in 0..<4 { editor.remove(at: random.below(editor.page.cellCount)) }
      let list = CellList(copying: editor.page)
      list.write(0..<list.count, to: editor)
    }
    let usedByteCount = TreePage(page.bytes).usedByteCount
    let byteCount = frames(from: base, to: page).count
    #expect(usedByteCount > 2500 && 4 * byteCount < usedByteCount, "\(byteCount)")
    // Cells that are in order already go as one: those behind the last that is taken out stay.
    let next = changed(page) { editor in
      editor.remove(at: 20)
      let list = CellList(copying: editor.page)
      list.write(0..<list.count, to: editor)
    }
    #expect(frames(from: page, to: next).count < 30 + 2 * TreePage(page.bytes).cellCount)
    for image in [base, page, next] { image.release() }
  }

  @Test func movesThatLeaveThePageAreRefused() {
    let room = UInt64(Self.pageByteCount - PagePatch.origin)
    func isApplied(_ moves: [[UInt64]]) -> Bool {
      var body = ByteBuffer()
      body.append(varint: UInt64(moves.count))
      for number in moves.joined() { body.append(varint: number) }
      var frame = ByteBuffer()
      frame.append([7, PagePatch.rearrangingKind])
      frame.append(varint: UInt64(body.count))
      frame.append(body.bytes)
      var reader = ByteReader(frame.bytes)
      guard let decoded = PagePatch.nextFrame(&reader) else { return false }
      var page = ByteBuffer()
      page.append(zeros: Self.pageByteCount)
      return PagePatch.apply(decoded, to: page.mutableBytes)
    }
    #expect(isApplied([]) && isApplied([[0, 10, 100], [room - 20, 0, 20]]))
    #expect(!isApplied([[0, 10, 100], [room - 20, 0, 21]]))
    #expect(!isApplied([[0, room - 5, 6]]) && !isApplied([[room + 1, 0, 0]]))
    #expect(!isApplied([[.max, 0, 1]]) && !isApplied([[0, 0, .max]]))
  }
}
