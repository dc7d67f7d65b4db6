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
  private let chunks = Slots<Chunk>()

  private final class Name: Sendable {
    /// The size, including the allocator's overhead.
    static let byteCount = 48
    let id: MemberID
    init(_ id: MemberID) { self.id = id }
  }

  private final class Chunk: Sendable {
    static let byteCount = Slots<Name>.byteCount + 32
    /// The names, by the lower half of their numbers.
    let names = Slots<Name>()
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
    return chunks.with(UInt8(truncatingIfNeeded: number >> 8)) { chunk in
      chunk.names.with(UInt8(truncatingIfNeeded: number)) { name in name.id }
    } ?? nil
  }

  /// Keeps a name that was read from a committed snapshot.
  package func insert(_ id: MemberID, at number: UInt32) {
    guard number < Self.maximumCount, !isFull else { return }
    let (upper, lower) = (UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
    var added = 0
    if chunks.isEmpty(upper), chunks.fill(upper, Chunk()) { added += Chunk.byteCount }
    let isNew = chunks.with(upper) { chunk in chunk.names.fill(lower, Name(id)) }
    if isNew == true { added += Name.byteCount + MemoryShares.heapByteCount(of: id.string) }
    usedByteCount.wrappingAdd(added, ordering: .relaxed)
  }
}

/// 256 references, each of which is set once and stays until their owner is destroyed.
///
/// They are in memory of their own, since a class has no room for them in place: `InlineArray`
/// exists only on Apple's systems of 2025.
@safe
private struct Slots<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  // Unchecked: the address never changes, and the words behind it are atomic.
  private let words: UnsafeMutablePointer<Atomic<UInt>>

  private static var count: Int { Int(UInt8.max) + 1 }
  static var byteCount: Int { count * MemoryLayout<UInt>.size + 16 }

  init() {
    unsafe words = .allocate(capacity: Self.count)
    for index in 0..<Self.count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  func isEmpty(_ index: UInt8) -> Bool {
    unsafe words[Int(index)].load(ordering: .relaxed) == 0
  }

  /// Returns the result of `body` for the object at an index, or nil if it is not set.
  ///
  /// The object's references are not counted meanwhile.
  @inline(__always)
  func with<R>(_ index: UInt8, _ body: (Object) -> R) -> R? {
    let bits = unsafe words[Int(index)].load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    // Unsafe: the bits are those of a reference that `fill` has kept alive until `deinit`.
    return unsafe Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef { object in
      body(object)
    }
  }

  /// Sets the reference at an index unless it is set already.
  ///
  /// Returns true if it was not.
  func fill(_ index: UInt8, _ object: Object) -> Bool {
    let reference = unsafe Unmanaged.passRetained(object)
    let new = unsafe UInt(bitPattern: reference.toOpaque())
    let isNew = unsafe words[Int(index)].compareExchange(
      expected: 0, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
    if !isNew { unsafe reference.release() }
    return isNew
  }

  deinit {
    for index in 0..<Self.count {
      let bits = unsafe words[index].load(ordering: .acquiring)
      // Unsafe: the reference that `fill` has kept alive.
      if let pointer = unsafe UnsafeRawPointer(bitPattern: bits) {
        unsafe Unmanaged<Object>.fromOpaque(pointer).release()
      }
    }
    unsafe words.deinitialize(count: Self.count)
    unsafe words.deallocate()
  }
}
