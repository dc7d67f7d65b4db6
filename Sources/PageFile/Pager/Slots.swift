/// Which slots of the data file are in use, promised to commits, or waiting for a snapshot to end.
///
/// See docs/page-file-format.md, D-4 and D-5.
///
///  1. A slot is free when neither meta slot's table nor the table of any open snapshot refers to it.
///  2. Between checkpoints `freeCount` is not below `reservedCount`, so that one finds room for
///     everything that was committed.
package struct Slots {
  private var usedWords: [UInt64] = []
  /// The slots that are known to hold nothing but zeros.
  private var zeroWords: [UInt64] = []
  /// How many slots there are; free ones behind these may be in the file, and are not given out.
  package private(set) var slotCount = 0
  /// How many there were in the file when it was opened: what lies in them may be anything.
  private var foundCount: Int
  package private(set) var freeCount = 0
  package private(set) var reservedCount = 0
  /// Slots that the table of some version no longer uses, oldest first.
  private var retired: [(version: UInt64, slots: [SlotNumber])] = []
  /// How many slots the file should at most become longer by next time: twice as many each time.
  package private(set) var growthStep = Self.growthStepMin
  private static let growthStepMin = 32
  private static let growthStepMax = 2048
  /// No slot below this word's is free.
  private var firstFreeWord = 0
  /// Where the slots lie that are given out next, counted from 0; the lowest ones follow.
  private var run: Range<Int> = 0..<0

  /// Slots of a file that was there before: whatever they hold, nothing uses them.
  /// - Parameters:
  ///   - slotCount: How many of them to keep track of.
  ///   - foundCount: How many there are in the file, if that are more.
  package init(slotCount: Int, ofFile foundCount: Int = 0) {
    self.foundCount = max(slotCount, foundCount)
    addSlots(to: slotCount)
  }

  /// Takes note that the file has become longer, by zeros, or that more of it is to be used.
  package mutating func grow(to count: Int) {
    guard count > slotCount else { return }
    let old = slotCount
    addSlots(to: count)
    let zeroStart = max(old, foundCount)
    if zeroStart < count { markZero(zeroStart..<count) }
    growthStep = min(growthStep * 2, Self.growthStepMax)
  }

  private mutating func addSlots(to count: Int) {
    freeCount += count - slotCount
    let missing = max(0, (count + 63) / 64 - usedWords.count)
    usedWords.append(contentsOf: repeatElement(0, count: missing))
    zeroWords.append(contentsOf: repeatElement(0, count: missing))
    slotCount = count
  }

  /// Takes note that the file has become shorter; the slots that go must be free.
  package mutating func shrink(to count: Int) {
    freeCount -= slotCount - count
    slotCount = count
    foundCount = min(foundCount, count)
    growthStep = Self.growthStepMin
    usedWords.removeLast(usedWords.count - (count + 63) / 64)
    zeroWords.removeLast(zeroWords.count - usedWords.count)
    // What lies behind the end comes back as zeros, but is marked then.
    if count % 64 != 0 { zeroWords[count / 64] &= 1 << UInt64(count % 64) - 1 }
  }

  /// Takes note that slots, counted from 0, hold zeros now.
  package mutating func markZero(_ indices: Range<Int>) {
    for index in indices { zeroWords[index / 64] |= 1 << UInt64(index % 64) }
  }

  /// The free slots that may hold something, counted from 0, as ranges of at most `countMax`.
  package func leftovers(countMax: Int) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for wordIndex in usedWords.indices {
      var word = ~(usedWords[wordIndex] | zeroWords[wordIndex])
      while word != 0 {
        let index = wordIndex * 64 + word.trailingZeroBitCount
        word &= word - 1
        guard index < slotCount else { break }
        if let last = ranges.last, last.upperBound == index, last.count < countMax {
          ranges[ranges.count - 1] = last.lowerBound..<index + 1
        } else {
          ranges.append(index..<index + 1)
        }
      }
    }
    return ranges
  }

  package func isUsed(_ slot: SlotNumber) -> Bool {
    let index = Int(slot.rawValue) - 1
    return index >= 0 && index < slotCount && usedWords[index / 64] & 1 << UInt64(index % 64) != 0
  }

  /// Marks a slot as in use; false when it was already, or lies outside the file.
  package mutating func markUsed(_ slot: SlotNumber) -> Bool {
    let index = Int(slot.rawValue) - 1
    guard index >= 0, index < slotCount, !isUsed(slot) else { return false }
    usedWords[index / 64] |= 1 << UInt64(index % 64)
    freeCount -= 1
    return true
  }

  /// Has `allocate` give out slots side by side, if there are `count` free ones in one place.
  ///
  /// Pages that lie together are one write, and one block for the sync to wait for: on the measured
  /// disk each scattered one costs 70 to 90 µs more.
  package mutating func seekRun(of count: Int) {
    run = 0..<0
    guard count > 1, count <= freeCount else { return }
    var start = firstFreeWord * 64
    for index in start..<max(start, slotCount) {
      if usedWords[index / 64] & 1 << UInt64(index % 64) != 0 { start = index + 1 }
      if index + 1 - start == count {
        run = start..<start + count
        return
      }
    }
  }

  /// The next slot of the run, else the lowest free one; now in use.
  package mutating func allocate() -> SlotNumber? {
    if let index = run.first {
      run = index + 1..<run.upperBound
      let slot = SlotNumber(UInt32(index + 1))
      if markUsed(slot) {
        zeroWords[index / 64] &= ~(1 << UInt64(index % 64))
        return slot
      }
      run = 0..<0
    }
    for wordIndex in firstFreeWord..<usedWords.count where usedWords[wordIndex] != .max {
      let index = wordIndex * 64 + (~usedWords[wordIndex]).trailingZeroBitCount
      guard index < slotCount else { break }
      firstFreeWord = wordIndex
      usedWords[wordIndex] |= 1 << UInt64(index % 64)
      zeroWords[wordIndex] &= ~(1 << UInt64(index % 64))
      freeCount -= 1
      return SlotNumber(UInt32(index + 1))
    }
    return nil
  }

  /// Gives back slots that nothing refers to.
  ///
  /// A table read from a damaged file may have named slots that are beyond the file, or the same
  /// one twice: those are passed over.
  package mutating func release(_ slots: [SlotNumber]) {
    for slot in slots where isUsed(slot) {
      let index = Int(slot.rawValue) - 1
      usedWords[index / 64] &= ~(1 << UInt64(index % 64))
      firstFreeWord = min(firstFreeWord, index / 64)
      freeCount += 1
    }
  }

  /// Slots that tables up to `version` may refer to and later ones do not.
  package mutating func retire(_ slots: [SlotNumber], version: UInt64) {
    if !slots.isEmpty { retired.append((version, slots)) }
  }

  /// Frees what no snapshot refers to any more.
  package mutating func releaseRetired(oldestVersion: UInt64) {
    while let first = retired.first, first.version < oldestVersion {
      release(first.slots)
      retired.removeFirst()
    }
  }

  /// How many slots wait for snapshots to end.
  package var retiredCount: Int { retired.reduce(0) { $0 + $1.slots.count } }

  package mutating func setReserved(_ count: Int) { reservedCount = count }

  /// The number of slots up to the last one in use.
  package var usedEnd: Int {
    for wordIndex in usedWords.indices.reversed() where usedWords[wordIndex] != 0 {
      return wordIndex * 64 + 64 - usedWords[wordIndex].leadingZeroBitCount
    }
    return 0
  }
}
