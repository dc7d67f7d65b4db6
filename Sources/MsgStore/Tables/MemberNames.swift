import Synchronization

/// The names of members by number, shared by all readers of one store.
///
/// Every slice needs the names of its senders, and a tree lookup for each would cost more than the
/// slice. The name of a number never changes once it is committed, so this table only grows:
/// reading is one atomic load, without a lock.
///
///  1. Only names read from a committed snapshot are inserted: the number of a member whose
///     transaction is rolled back is given to another.
///  2. No name is removed, and none is inserted into a full table. When a table is full,
///     `KnownNames` gives an empty one to readers that begin from then on. Readers that have the
///     full one keep it until they end.
///
/// `AtomicLazyReference` would do the same without `unsafe`, but it is not specialised across
/// modules: a load took 40 ns instead of 2, more than everything else that a row of a slice needs.
package final class MemberNames: Sendable {
  package static let maximumCount = 65_536

  private let maximumByteCount: Int
  private let usedByteCount = Atomic<Int>(0)

  /// The chunks of names, by the upper half of a number.
  private let chunks = ReferenceSlots<Chunk>(count: chunkCount)
  private static let chunkCount = 256

  private final class Name: Sendable {
    /// The size, including the allocator's overhead.
    static let byteCount = 48
    let id: MemberID
    init(_ id: MemberID) { self.id = id }
  }

  private final class Chunk: Sendable {
    static let byteCount = chunkCount * MemoryLayout<UInt>.size + 64
    /// The names, by the lower half of their numbers.
    let names = ReferenceSlots<Name>(count: chunkCount)
  }

  package init(maximumByteCount: Int = MemoryShares().memberNames) {
    self.maximumByteCount = maximumByteCount
  }

  /// The approximate number of bytes that the names take.
  package var byteCount: Int { usedByteCount.load(ordering: .relaxed) }

  /// True if no more names are inserted.
  package var isFull: Bool { byteCount >= maximumByteCount }

  /// The name of a number, if it was inserted.
  package subscript(number: UInt32) -> MemberID? {
    guard number < Self.maximumCount else { return nil }
    return chunks.with(Int(number >> 8)) { chunk in
      chunk.names.with(Int(number & 0xFF)) { name in name.id }
    } ?? nil
  }

  /// Keeps a name that was read from a committed snapshot.
  package func insert(_ id: MemberID, at number: UInt32) {
    guard number < Self.maximumCount, !isFull else { return }
    let (upper, lower) = (Int(number >> 8), Int(number & 0xFF))
    var added = 0
    if chunks.isEmpty(upper), chunks.fill(upper, Chunk()) { added += Chunk.byteCount }
    let isNew = chunks.with(upper) { chunk in chunk.names.fill(lower, Name(id)) }
    if isNew == true { added += Name.byteCount + MemoryShares.heapByteCount(of: id.string) }
    usedByteCount.wrappingAdd(added, ordering: .relaxed)
  }
}
