/// The state of the data file's slots: in use, free, reserved for commits, or waiting for a
/// snapshot to end.
///
/// See docs/page-file-format.md, D-4 and D-5.
///
///  1. A slot is free when neither meta slot's table nor the table of any open snapshot refers to
///     it.
///  2. Between checkpoints `freeCount` is not below `reservedCount`, so that the next checkpoint
///     finds room for everything that was committed.
package struct Slots {
  private var usedWords: [UInt64] = []
  /// A bitmap of the slots that are known to hold only zeros.
  private var zeroWords: [UInt64] = []
  /// The number of slots tracked; the file may have more free slots after these, which are not
  /// allocated.
  package private(set) var slotCount = 0
  /// The number of slots in the file when it was opened; these may hold anything.
  private var foundCount: Int
  package private(set) var freeCount = 0
  package private(set) var reservedCount = 0
  /// Slots that tables after a version no longer use, oldest version first.
  private var retired: [(version: UInt64, slots: [SlotNumber])] = []
  /// The limit for the next growth of the file, in slots; it doubles each time.
  package private(set) var growthStep = Self.growthStepMin
  private static let growthStepMin = 32
  private static let maximumGrowthStep = 2048
  /// The index of a word below which no slot is free.
  private var firstFreeWord = 0
  /// The slots to allocate next, counted from 0; after these, the lowest free ones.
  private var run: Range<Int> = 0..<0

  /// Creates the state of an existing file, with all slots free; they may hold anything.
  /// - Parameters:
  ///   - slotCount: The number of slots to track.
  ///   - foundCount: The number of slots in the file, if it has more.
  package init(slotCount: Int, ofFile foundCount: Int = 0) {
    self.foundCount = max(slotCount, foundCount)
    addSlots(to: slotCount)
  }

  /// Records that the file has grown by zeros, or that more of it is to be used.
  package mutating func grow(to count: Int) {
    guard count > slotCount else { return }
    let old = slotCount
    addSlots(to: count)
    let zeroStart = max(old, foundCount)
    if zeroStart < count { markZero(zeroStart..<count) }
    growthStep = min(growthStep * 2, Self.maximumGrowthStep)
  }

  private mutating func addSlots(to count: Int) {
    freeCount += count - slotCount
    let missing = max(0, (count + 63) / 64 - usedWords.count)
    usedWords.append(contentsOf: repeatElement(0, count: missing))
    zeroWords.append(contentsOf: repeatElement(0, count: missing))
    slotCount = count
  }

  /// Records that the file has been truncated; the removed slots must be free.
  package mutating func shrink(to count: Int) {
    freeCount -= slotCount - count
    slotCount = count
    foundCount = min(foundCount, count)
    growthStep = Self.growthStepMin
    usedWords.removeLast(usedWords.count - (count + 63) / 64)
    zeroWords.removeLast(zeroWords.count - usedWords.count)
    // Slots past the end come back as zeros, but they are marked when that happens.
    if count % 64 != 0 { zeroWords[count / 64] &= 1 << UInt64(count % 64) - 1 }
  }

  /// Records that slots, counted from 0, now hold zeros.
  package mutating func markZero(_ indices: Range<Int>) {
    for index in indices { zeroWords[index / 64] |= 1 << UInt64(index % 64) }
  }

  /// Returns the free slots that may hold old content, counted from 0, as ranges of at most
  /// `maximumCount`.
  package func leftovers(maximumCount: Int) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for wordIndex in usedWords.indices {
      var word = ~(usedWords[wordIndex] | zeroWords[wordIndex])
      while word != 0 {
        let index = wordIndex * 64 + word.trailingZeroBitCount
        word &= word - 1
        guard index < slotCount else { break }
        if let last = ranges.last, last.upperBound == index, last.count < maximumCount {
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

  /// Marks a slot as in use; returns false if it already was, or lies outside the file.
  package mutating func markUsed(_ slot: SlotNumber) -> Bool {
    let index = Int(slot.rawValue) - 1
    guard index >= 0, index < slotCount, !isUsed(slot) else { return false }
    usedWords[index / 64] |= 1 << UInt64(index % 64)
    freeCount -= 1
    return true
  }

  /// Makes `allocate` return adjacent slots, if there is a run of `count` free ones.
  ///
  /// Adjacent pages take one write, and the sync waits for one block. On the measured disk each
  /// scattered block costs 70 to 90 µs more.
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

  /// Allocates the next slot of the run, or else the lowest free slot; returns nil if there is
  /// none.
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

  /// Frees slots to which no table refers.
  ///
  /// A table read from a damaged file may have named slots beyond the end of the file, or one slot
  /// twice; those are skipped.
  package mutating func release(_ slots: [SlotNumber]) {
    for slot in slots where isUsed(slot) {
      let index = Int(slot.rawValue) - 1
      usedWords[index / 64] &= ~(1 << UInt64(index % 64))
      firstFreeWord = min(firstFreeWord, index / 64)
      freeCount += 1
    }
  }

  /// Retires slots to which tables up to `version` may refer and later tables do not.
  package mutating func retire(_ slots: [SlotNumber], version: UInt64) {
    if !slots.isEmpty { retired.append((version, slots)) }
  }

  /// Frees retired slots to which no snapshot refers any more.
  package mutating func releaseRetired(oldestVersion: UInt64) {
    while let first = retired.first, first.version < oldestVersion {
      release(first.slots)
      retired.removeFirst()
    }
  }

  /// The number of slots that wait for snapshots to end.
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
