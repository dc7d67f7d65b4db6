import PageFile
import Testing

/// The persistent map beside a dictionary: each version keeps what it held, and in the end every
/// image is freed.
struct PageMapTests {
  /// What a version has to hold: the tag in each image, nil for a freed page.
  private typealias Expected = [UInt32: UInt64?]

  private func makeImage(
    _ tag: UInt64, _ account: ImageAccount, edition: Int = 0
  ) -> PageImage {
    let image = PageImage(pageByteCount: 64, account: account)
    image.mutableBytes.store(tag, at: 0)
    image.mutableBytes.store(UInt64(edition), at: PageHeader.lsnOffset)
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

  /// One version, and the snapshot that keeps it.
  private struct Version {
    let snapshot: SnapshotRegistry.Registration
    let map: PageMap
    let expected: Expected
  }

  private func end(_ version: Version, in registry: SnapshotRegistry) {
    registry.remove(version.snapshot) {
      var remains = MapRemains()
      version.map.collect(to: &remains)
      return remains
    }
  }

  /// Versions follow each other, some are kept for a while, and at each moment exactly those images
  /// live that one of the kept versions has.
  @Test(arguments: 0..<4)
  func versionsStayAsTheyWereAndImagesGoWithTheLast(spread: Int) {
    var random = SeededGenerator()
    let account = ImageAccount()
    let registry = SnapshotRegistry()
    var tag: UInt64 = 0
    var map = PageMap()
    var expected: Expected = [:]
    var kept: [Version] = []
    for edition in 0...60 {
      var remains: MapRemains? = MapRemains()
      if random.below(12) == 0 {
        // As after a checkpoint.
        if var all = remains {
          map.collect(to: &all)
          remains = all
        }
        (map, expected) = (PageMap(), [:])
      }
      var changed: Set<UInt32> = []
      for _ in 0..<random.below(30) {
        let number = number(&random, spread: spread)
        // A commit has one version of a page.
        guard changed.insert(number).inserted else { continue }
        let isFreed = random.below(5) == 0
        tag += 1
        map.set(
          PageNumber(number), to: isFreed ? nil : makeImage(tag, account, edition: edition),
          edition: UInt64(edition), &remains)
        expected[number] = .some(isFreed ? nil : tag)
        lookUp(number, in: map, expected)
        lookUp(self.number(&random, spread: spread), in: map, expected)
      }
      let snapshot = registry.register(tableVersion: 0, lsn: LSN(UInt64(edition)))
      if let last = kept.last, let remains {
        registry.supersede(last.snapshot, leaving: remains)
        if random.below(3) > 0 { end(kept.removeLast(), in: registry) }
      }
      kept.append(Version(snapshot: snapshot, map: map, expected: expected))
      if kept.count > 1, random.below(4) == 0 {
        end(kept.remove(at: random.below(kept.count - 1)), in: registry)
      }
      let reachable = Set(kept.flatMap { $0.expected.values.compactMap { $0 } })
      #expect(account.livingCount == reachable.count)
    }
    for version in kept { verify(version.map, version.expected) }
    // The newest ends last, or before those that are still looked at.
    if spread % 2 == 0 { kept.reverse() } else { kept.shuffle(using: &random) }
    while let version = kept.popLast() {
      end(version, in: registry)
      if let other = kept.last { verify(other.map, other.expected) }
    }
    #expect(account.livingCount == 0)
  }

  @Test func emptyMapHoldsNothing() {
    let map = PageMap()
    for number: UInt32 in [0, 1, 63, 64, .max] { lookUp(number, in: map, [:]) }
    verify(map, [:])
    map.free()
  }

  @Test func replacingAnImageThatNobodyHasSeenFreesIt() {
    let account = ImageAccount()
    var map = PageMap()
    for tag in 1...10 { map.set(PageNumber(70), to: makeImage(UInt64(tag), account)) }
    #expect(account.livingCount == 1)
    verify(map, [70: 10])
    map.set(PageNumber(70), to: nil)
    #expect(account.livingCount == 0)
    verify(map, [70: nil])
    map.free()
  }
}
