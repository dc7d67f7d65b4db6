import PageFile
import Testing

/// Free, used and waiting slots, beside a model that keeps plain sets.
struct SlotsTests {
  private struct Model {
    var slotCount: Int
    var used: Set<UInt32> = []
    var retired: [(version: UInt64, slots: [SlotNumber])] = []

    var lowestFree: UInt32? {
      (0..<UInt32(slotCount)).first { !used.contains($0 + 1) }.map { $0 + 1 }
    }
  }

  @Test(arguments: [0, 1, 63, 64, 65, 200])
  func behavesLikeASet(slotCount: Int) {
    var random = SeededGenerator()
    var slots = Slots(slotCount: slotCount)
    var model = Model(slotCount: slotCount)
    var version: UInt64 = 1
    for _ in 0..<400 {
      switch random.below(10) {
      case 0...3: allocate(&slots, &model)
      case 4: releaseSome(&slots, &model, &random)
      case 5, 6: retireSome(&slots, &model, &random, &version)
      case 7:
        releaseRetired(&slots, &model, oldest: version - min(version, UInt64(random.below(4))))
      case 8: resize(&slots, &model, &random)
      default: markSome(&slots, &model, &random)
      }
      #expect(slots.slotCount == model.slotCount)
      #expect(slots.freeCount == model.slotCount - model.used.count)
      #expect(slots.usedEnd == Int(model.used.max() ?? 0))
      #expect(slots.retiredCount == model.retired.reduce(0) { $0 + $1.slots.count })
    }
    for number in 0..<UInt32(model.slotCount) {
      #expect(slots.isUsed(SlotNumber(number + 1)) == model.used.contains(number + 1))
    }
  }

  private func allocate(_ slots: inout Slots, _ model: inout Model) {
    let expected = model.lowestFree
    let slot = slots.allocate()
    #expect(slot?.rawValue == expected)
    if let expected { model.used.insert(expected) }
  }

  /// Slots in use that do not wait for anybody.
  private func some(_ model: Model, _ random: inout SeededGenerator) -> [SlotNumber] {
    let waiting = Set(model.retired.flatMap { $0.slots.map(\.rawValue) })
    let candidates = model.used.subtracting(waiting).sorted()
    return candidates.filter { _ in random.below(4) == 0 }.map { SlotNumber($0) }
  }

  private func releaseSome(
    _ slots: inout Slots, _ model: inout Model, _ random: inout SeededGenerator
  ) {
    let released = some(model, &random)
    slots.release(released)
    model.used.subtract(released.map(\.rawValue))
  }

  private func retireSome(
    _ slots: inout Slots, _ model: inout Model, _ random: inout SeededGenerator,
    _ version: inout UInt64
  ) {
    let retired = some(model, &random)
    slots.retire(retired, version: version)
    if !retired.isEmpty { model.retired.append((version, retired)) }
    version += UInt64(random.below(2))
  }

  /// What tables up to `oldest` used stays; what only older ones used is free.
  private func releaseRetired(_ slots: inout Slots, _ model: inout Model, oldest: UInt64) {
    slots.releaseRetired(oldestVersion: oldest)
    for entry in model.retired where entry.version < oldest {
      model.used.subtract(entry.slots.map(\.rawValue))
    }
    model.retired.removeAll { $0.version < oldest }
  }

  private func resize(
    _ slots: inout Slots, _ model: inout Model, _ random: inout SeededGenerator
  ) {
    if random.below(2) == 0 {
      model.slotCount += random.below(70)
      slots.grow(to: model.slotCount)
    } else {
      let end = Int(model.used.max() ?? 0)
      model.slotCount = end + random.below(model.slotCount - end + 1)
      slots.shrink(to: model.slotCount)
    }
  }

  private func markSome(
    _ slots: inout Slots, _ model: inout Model, _ random: inout SeededGenerator
  ) {
    let number = UInt32(random.below(model.slotCount + 3))
    let isNew = number >= 1 && number <= model.slotCount && !model.used.contains(number)
    #expect(slots.markUsed(SlotNumber(number)) == isNew)
    if isNew { model.used.insert(number) }
  }

  @Test func noSlotAndSlotsBeyondTheFileAreNotInUse() {
    var slots = Slots(slotCount: 10)
    for slot in [SlotNumber.none, SlotNumber(11), SlotNumber(.max)] {
      let isMarked = slots.markUsed(slot)
      #expect(!isMarked)
    }
    #expect(!slots.isUsed(SlotNumber(11)) && !slots.isUsed(SlotNumber(.max)))
    #expect(slots.freeCount == 10)
  }

  @Test func slotsOfARunLieSideBySide() {
    var slots = Slots(slotCount: 200)
    for number in 1...150 where number % 10 != 0 {
      _ = slots.markUsed(SlotNumber(UInt32(number)))
    }
    slots.seekRun(of: 5)
    let run = (0..<5).map { _ in slots.allocate()?.rawValue }
    #expect(run == [150, 151, 152, 153, 154])
    // Behind its end, and where there is none as long, the lowest ones follow.
    let behind = slots.allocate()?.rawValue
    #expect(behind == 10)
    slots.seekRun(of: 60)
    let lowest = slots.allocate()?.rawValue
    #expect(lowest == 20)
    slots.seekRun(of: 46)
    let last = (0..<46).map { _ in slots.allocate()?.rawValue }.last
    #expect(last == 200)
  }

  /// What a long file has behind the slots that are kept track of may be anything.
  @Test func slotsOutOfSightAreNotTakenForZeros() {
    var slots = Slots(slotCount: 4, ofFile: 10)
    slots.grow(to: 12)
    #expect(slots.leftovers(maximumCount: 64) == [0..<10])
    // After the file was cut what comes back is zeros.
    slots.shrink(to: 3)
    slots.grow(to: 12)
    #expect(slots.leftovers(maximumCount: 64) == [0..<3])
  }
}
