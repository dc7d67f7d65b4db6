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

  /// Pointers to chunks of `Name`s that this object owns; 0 for a missing chunk.
  private let chunks = InlineArray<256, Slot<Chunk>> { _ in Slot() }

  private final class Name: Sendable {
    /// The size, including the allocator's overhead.
    static let byteCount = 48
    let id: MemberID
    init(_ id: MemberID) { self.id = id }
  }

  private final class Chunk: Sendable {
    static let byteCount = 256 * 8 + 32
    let names = InlineArray<256, Slot<Name>> { _ in Slot() }
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
    return chunks[Int(number >> 8)].with { chunk in
      chunk.names[Int(number & 0xFF)].with { name in name.id }
    } ?? nil
  }

  /// Keeps a name that was read from a committed snapshot.
  package func insert(_ id: MemberID, at number: UInt32) {
    guard number < Self.maximumCount, !isFull else { return }
    let slot = Int(number >> 8)
    var added = 0
    if chunks[slot].isEmpty, chunks[slot].fill(Chunk()) { added += Chunk.byteCount }
    let isNew = chunks[slot].with { chunk in chunk.names[Int(number & 0xFF)].fill(Name(id)) }
    if isNew == true { added += Name.byteCount + MemoryShares.heapByteCount(of: id.string) }
    usedByteCount.wrappingAdd(added, ordering: .relaxed)
  }
}

/// A reference that is set once and stays until its owner is destroyed.
private struct Slot<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let bits = Atomic<UInt>(0)

  var isEmpty: Bool { bits.load(ordering: .relaxed) == 0 }

  /// Returns the result of `body` for the object, or nil if it is not set.
  ///
  /// The object's references are not counted meanwhile.
  @inline(__always)
  func with<R>(_ body: (Object) -> R) -> R? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits.load(ordering: .acquiring)) else {
      return nil
    }
    // Unsafe: the bits are those of a reference that `fill` has kept alive until `deinit`.
    return unsafe Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef { object in
      body(object)
    }
  }

  /// Sets the reference unless it is set already.
  ///
  /// Returns true if it was not.
  func fill(_ object: Object) -> Bool {
    let reference = unsafe Unmanaged.passRetained(object)
    let new = unsafe UInt(bitPattern: reference.toOpaque())
    let isNew = bits.compareExchange(
      expected: 0, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
    if !isNew { unsafe reference.release() }
    return isNew
  }

  deinit {
    // Unsafe: the reference that `fill` has kept alive.
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits.load(ordering: .acquiring)) else {
      return
    }
    unsafe Unmanaged<Object>.fromOpaque(pointer).release()
  }
}
