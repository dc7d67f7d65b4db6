import Synchronization

/// The page versions that have passed the gate since the store was opened.
///
/// If an evicted page is read again, its checksum proves that it is unchanged. So its cells need
/// not be validated again, which saves half of the cost of reading a page. A small lossy table is
/// enough: a page that it has lost is validated again.
@safe
final class ValidatedPages: @unchecked Sendable {
  // Unchecked: the places are atomic.
  private static let placeCount = 1 << 15

  private let places: UnsafeMutablePointer<Atomic<UInt64>>

  init() {
    // Zeros are what `Atomic(0)` is in memory.
    unsafe places = Memory.allocateZeros(Self.placeCount * MemoryLayout<Atomic<UInt64>>.stride)
      .bindMemory(to: Atomic<UInt64>.self, capacity: Self.placeCount)
  }

  deinit { unsafe Memory.free(places) }

  func insert(_ entry: TableEntry) {
    unsafe places[place(of: entry)].store(entry.rawValue, ordering: .relaxed)
  }

  func contains(_ entry: TableEntry) -> Bool {
    unsafe places[place(of: entry)].load(ordering: .relaxed) == entry.rawValue
  }

  private func place(of entry: TableEntry) -> Int {
    Int(entry.slot.rawValue) & (Self.placeCount - 1)
  }
}
