import PageFile
import Testing

/// The cache gives what was put in or nothing, keeps to its budget, and frees nothing that a reader
/// may still look at.
struct PageCacheTests {
  private let account = ImageAccount()

  private func entry(_ slot: Int, version: Int = 0) -> TableEntry {
    TableEntry(slot: SlotNumber(UInt32(slot)), check: UInt32(version))
  }

  private func insert(_ slot: Int, version: Int = 0, into cache: PageCache) {
    let image = PageImage(pageByteCount: 64, account: account)
    image.mutableBytes.store(UInt64(slot), at: 0)
    image.mutableBytes.store(UInt64(version), at: 8)
    image.place = entry(slot, version: version)
    if !cache.insert(image) { image.release() }
  }

  /// Whether an entry is found; what is found has to be right.
  private func isFound(_ slot: Int, version: Int = 0, in cache: PageCache) -> Bool {
    let ticket = cache.enter()
    defer { cache.leave(ticket) }
    guard let image = cache.find(entry(slot, version: version)) else { return false }
    #expect(image.bytes.uint64(at: 0) == UInt64(slot))
    #expect(image.bytes.uint64(at: 8) == UInt64(version))
    return true
  }

  @Test func findsWhatWasInserted() {
    do {
      let cache = PageCache(maximumPageCount: 1024)
      for slot in 1...64 { insert(slot, into: cache) }
      for slot in 1...64 { #expect(isFound(slot, in: cache)) }
      #expect(!isFound(65, in: cache) && !isFound(1, version: 1, in: cache))
      #expect(cache.pageCount == 64)
    }
    #expect(account.livingCount == 0)
  }

  @Test func aSlotHoldsItsNewestVersionOnly() {
    let cache = PageCache(maximumPageCount: 64)
    for version in 0..<200 { insert(9, version: version, into: cache) }
    #expect((0..<199).allSatisfy { !isFound(9, version: $0, in: cache) })
    #expect(isFound(9, version: 199, in: cache))
    cache.remove(SlotNumber(9))
    #expect(!isFound(9, version: 199, in: cache))
    cache.remove(SlotNumber(10))
  }

  /// Beside the pages in the table only those wait that left it since the last reclaiming.
  @Test(arguments: [64, 100, 500])
  func evictsWithinItsBudget(maximumPageCount: Int) {
    do {
      var random = SeededGenerator()
      let cache = PageCache(maximumPageCount: maximumPageCount)
      for _ in 0..<4 * maximumPageCount {
        let slot = 1 + random.below(20 * maximumPageCount)
        if !isFound(slot, in: cache) { insert(slot, into: cache) }
        #expect(isFound(slot, in: cache) || cache.pageCount >= maximumPageCount)
        #expect(cache.pageCount <= maximumPageCount + 64)
        #expect(account.livingCount == cache.pageCount)
      }
      cache.maximumSetPageCount(64)
      #expect(cache.pageCount <= 64)
    }
    #expect(account.livingCount == 0)
  }

  @Test func aScanLeavesThePagesThatAreInUse() {
    let cache = PageCache(maximumPageCount: 1024)
    for slot in 1...100 { insert(slot, into: cache) }
    for scan in 0..<5 {
      for slot in 1...100 { #expect(isFound(slot, in: cache), "scan \(scan)") }
      // Each page of the scan is read once.
      for slot in 0..<1500 { insert(1000 + scan * 1500 + slot, into: cache) }
    }
  }

  @Test func whatIsInsertedIsFoundBeforeAnythingElseIsInserted() {
    let cache = PageCache(maximumPageCount: 64)
    for slot in 1...64 { insert(slot, into: cache) }
    for slot in 65...2000 {
      for used in slot - 64..<slot { _ = isFound(used, in: cache) }
      insert(slot, into: cache)
      #expect(isFound(slot, in: cache))
    }
  }

  @Test func imagesStayUntilTheirReadersHaveLeft() throws {
    let cache = PageCache(maximumPageCount: 64)
    insert(1, into: cache)
    let ticket = cache.enter()
    let image = try #require(cache.find(entry(1)))
    cache.remove(SlotNumber(1))
    // Reading anew finds nothing, but the reader inside still has its bytes.
    #expect(!isFound(1, in: cache))
    for slot in 2...400 { insert(slot, into: cache) }
    cache.maximumSetPageCount(64)
    #expect(image.bytes.uint64(at: 0) == 1)
    // As many as the budget, and as many may wait; more is not taken in.
    #expect(account.livingCount == 128 && cache.pageCount == 128)
    cache.leave(ticket)
    cache.maximumSetPageCount(64)
    #expect(account.livingCount <= 64)
    insert(500, into: cache)
    #expect(isFound(500, in: cache))
  }

  @Test func moreReadersThanPlacesStillHoldBackFreeing() {
    let cache = PageCache(maximumPageCount: 64)
    insert(1, into: cache)
    let tickets = (0..<70).map { _ in cache.enter() }
    cache.remove(SlotNumber(1))
    for ticket in tickets.dropLast() { cache.leave(ticket) }
    cache.maximumSetPageCount(64)
    #expect(account.livingCount == 1)
    if let last = tickets.last { cache.leave(last) }
    cache.maximumSetPageCount(64)
    #expect(account.livingCount == 0)
  }
}
