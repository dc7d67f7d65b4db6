import PageFile
import Testing

/// The persistent map beside a dictionary: each version keeps what it held, and in the end every
/// image is freed.
@Suite struct PageMapTests {
  /// What a version has to hold: the tag in each image, nil for a freed page.
  private typealias Expected = [UInt32: UInt64?]

  private func makeImage(_ tag: UInt64, _ account: ImageAccount) -> PageImage {
    let image = PageImage(pageByteCount: 64, account: account)
    image.mutableBytes.store(tag, at: 0)
    return image
  }

  private func number(_ random: inout SeededGenerator, spread: Int) -> UInt32 {
    switch spread {
    case 0: UInt32(1 + random.below(200))
    case 1: UInt32(1 + random.below(100_000))
    case 2: UInt32(1) << UInt32(random.below(32))
    default: UInt32.random(in: 1 ... .max, using: &random)
    }
  }

  private func verify(_ map: PageMap, _ expected: Expected) {
    #expect(map.count == expected.count)
    #expect(map.isEmpty == expected.isEmpty)
    var seen: [(number: UInt32, tag: UInt64?)] = []
    map.forEach { number, image in
      seen.append((number.rawValue, image.map { $0.bytes.uint64(at: 0) }))
    }
    #expect(seen.map(\.number) == expected.keys.sorted())
    for (number, tag) in seen { #expect(expected[number] == .some(tag)) }
  }

  private func lookUp(_ number: UInt32, in map: PageMap, _ expected: Expected) {
    switch map[PageNumber(number)] {
    case .absent: #expect(expected[number] == nil)
    case .freed: #expect(expected[number] == .some(nil))
    case .image(let image): #expect(expected[number] == .some(image.bytes.uint64(at: 0)))
    }
  }

  @Test(arguments: 0..<4)
  func versionsStayAsTheyWereAndAllImagesAreFreed(spread: Int) {
    var random = SeededGenerator()
    let account = ImageAccount()
    var tag: UInt64 = 0
    var versions: [(map: PageMap, expected: Expected)] = [(PageMap(), [:])]
    for edition in 1...40 {
      // On top of the newest version or, as a commit may have been undone, of any other.
      let base = random.below(4) == 0 ? random.below(versions.count) : versions.count - 1
      var (map, expected) = versions[base]
      map.retain()
      for _ in 0..<random.below(30) {
        let number = number(&random, spread: spread)
        let isFreed = random.below(5) == 0
        tag += 1
        map.set(
          PageNumber(number), to: isFreed ? nil : makeImage(tag, account), edition: UInt64(edition))
        expected[number] = .some(isFreed ? nil : tag)
        lookUp(number, in: map, expected)
        lookUp(self.number(&random, spread: spread), in: map, expected)
      }
      versions.append((map, expected))
      if random.below(5) == 0 {
        let old = versions.remove(at: random.below(versions.count))
        old.map.release()
        if versions.isEmpty { versions = [(PageMap(), [:])] }
      }
    }
    for version in versions { verify(version.map, version.expected) }
    versions.shuffle(using: &random)
    while let last = versions.popLast() {
      last.map.release()
      if let other = versions.last { verify(other.map, other.expected) }
    }
    #expect(account.livingCount == 0)
  }

  @Test func emptyMapHoldsNothing() {
    let map = PageMap()
    map.retain()
    for number: UInt32 in [0, 1, 63, 64, .max] { lookUp(number, in: map, [:]) }
    verify(map, [:])
    map.release()
    map.release()
  }

  @Test func replacingAnImageInOneEditionFreesIt() {
    let account = ImageAccount()
    var map = PageMap()
    for tag in 1...10 { map.set(PageNumber(70), to: makeImage(UInt64(tag), account), edition: 1) }
    #expect(account.livingCount == 1)
    verify(map, [70: 10])
    map.set(PageNumber(70), to: nil, edition: 1)
    #expect(account.livingCount == 0)
    verify(map, [70: nil])
    map.release()
  }
}
