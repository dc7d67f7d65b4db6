import MsgStore
import PageFile
import Testing

/// Bytes that mean something else, under checksums that hold: whatever they say, a salvage ends, and
/// what it makes is sound.
struct HostilePagesTests {
  private func storeID(_ subject: SalvageSubject) throws -> StoreID {
    let data = try #require(subject.files["store"])
    let slot = Array(data[0..<MetaSlot.byteCount])
    guard case .valid(let meta) = Bytes.with(slot, { MetaSlot.read($0) }) else { throw NoMeta() }
    return meta.storeID
  }

  private struct NoMeta: Error {}

  /// Changes a few bytes of a page and makes its checksum hold again.
  private func change(
    _ slot: Int, of subject: inout SalvageSubject, _ id: StoreID, _ random: inout SeededGenerator
  ) {
    var page = subject.page(in: slot)
    // Now and then the header, where little changes much.
    let end = random.chance(40) ? 64 : page.count
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      page[Int.random(in: 8..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    let checksum = Bytes.with(page) { bytes in
      Checksum.of(
        bytes.dropFirst(8),
        seed: Checksum.seed(
          id.high, id.low, UInt64(bytes.uint32(at: PageHeader.numberOffset)),
          UInt64(bytes[PageHeader.kindOffset])))
    }
    for index in 0..<8 { page[index] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * index)) }
    let range = subject.range(of: slot)
    subject.files["store"]?.replaceSubrange(range, with: page)
  }

  @Test func anySalvageEnds() throws {
    for seed in seeds(2, debugCount: 1) {
      var sample = try SalvageSample(seed: seed)
      try sample.grow(commits: 15)
      try sample.close()
      let intact = try SalvageSubject(sample.directory)
      let id = try storeID(intact)
      let slots = intact.pageSlots.values.flatMap { $0 } + intact.tableSlots.values.flatMap { $0 }
      var random = SeededGenerator(seed: seed)
      var changedCount = 0
      for _ in 0..<40 {
        var subject = intact
        for slot in slots where random.chance(30) {
          change(slot, of: &subject, id, &random)
          changedCount += 1
        }
        // Without the table every page that is well formed is believed.
        if random.chance(70) { for index in 0..<2 { subject.destroyMetaSlot(index, &random) } }
        do {
          _ = try subject.salvage()
        } catch StoreError.opening(.schemaTooNew), StoreError.opening(.schemaTooOld) {
          // The settings may say anything.
        }
      }
      #expect(changedCount > 100)
    }
  }
}
