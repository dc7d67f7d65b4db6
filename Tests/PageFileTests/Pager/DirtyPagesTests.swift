import PageFile
import Testing

/// The writer's table of changed pages beside a dictionary.
struct DirtyPagesTests {
  /// Strides that are powers of two send many numbers to few places.
  @Test(arguments: [1, 64, 4096])
  func behavesLikeADictionary(stride: Int) throws {
    var random = SeededGenerator()
    let account = ImageAccount()
    let pages = DirtyPages()
    defer { pages.free() }
    var expected: [UInt32: UInt64] = [:]
    for tag in 0..<3000 {
      let number = UInt32(1 + random.below(300) * stride)
      if expected[number] == nil {
        #expect(pages[PageNumber(number)] == nil)
        if random.below(3) > 0 {
          let image = PageImage(pageByteCount: 64, account: account)
          image.mutableBytes.store(UInt64(tag), at: 0)
          pages.insert(PageNumber(number), image)
          expected[number] = UInt64(tag)
        } else {
          #expect(pages.remove(PageNumber(number)) == nil)
        }
      } else if random.below(2) == 0 {
        let image = try #require(pages.remove(PageNumber(number)))
        #expect(image.bytes.uint64(at: 0) == expected.removeValue(forKey: number))
        image.release()
      } else {
        #expect(pages[PageNumber(number)]?.bytes.uint64(at: 0) == expected[number])
      }
      #expect(pages.count == expected.count && account.livingCount == expected.count)
    }
    let sorted = pages.sorted()
    #expect(sorted.map(\.number.rawValue) == expected.keys.sorted())
    for page in sorted { #expect(page.image.bytes.uint64(at: 0) == expected[page.number.rawValue]) }
    pages.removeAll()
    #expect(pages.count == 0 && pages.sorted().isEmpty && account.livingCount == 0)
  }

  @Test func endingTheTableFreesItsImages() {
    let account = ImageAccount()
    let pages = DirtyPages()
    for number in 1...100 {
      pages.insert(PageNumber(UInt32(number)), PageImage(pageByteCount: 64, account: account))
    }
    #expect(account.livingCount == 100 && pages.count == 100)
    pages.free()
    #expect(account.livingCount == 0)
  }
}
