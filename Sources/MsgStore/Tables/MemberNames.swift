import Synchronization

/// The names of members by number, for everybody who reads from one store.
///
/// Every slice needs the names of its senders, and a lookup in a tree for each would cost more than
/// the slice. A number's name never changes once it was committed, so one of these only ever grows:
/// reading is one atomic load, without a lock.
///
///  1. Only names read from a committed snapshot are put in: the number of a member whose
///     transaction is rolled back is given to another.
///  2. Nothing is taken out, and nothing put in where there is no room. When one is full, `KnownNames`
///     gives an empty one to those who begin from then on; readers that have this one keep it until
///     they end.
///
/// `AtomicLazyReference` would say the same without a word of `unsafe`, but is not specialised across
/// modules: a load took 40 ns instead of 2, more than all else that a row of a slice needs.
package final class MemberNames: Sendable {
  package static let countMax = 65_536

  private let byteCountMax: Int
  private let usedByteCount = Atomic<Int>(0)

  /// Pointers to `Name`s that this object owns; 0 where there is none yet.
  private let chunks = InlineArray<256, Slot<Chunk>> { _ in Slot() }

  private final class Name: Sendable {
    /// With what the allocator adds.
    static let byteCount = 48
    let id: MemberID
    init(_ id: MemberID) { self.id = id }
  }

  private final class Chunk: Sendable {
    static let byteCount = 256 * 8 + 32
    let names = InlineArray<256, Slot<Name>> { _ in Slot() }
  }

  package init(byteCountMax: Int = MemoryShares().memberNames) { self.byteCountMax = byteCountMax }

  /// About how many bytes the names take.
  package var byteCount: Int { usedByteCount.load(ordering: .relaxed) }

  /// Whether nothing more is put in.
  package var isFull: Bool { byteCount >= byteCountMax }

  /// The name of a number, if it has been put in.
  package subscript(number: UInt32) -> MemberID? {
    guard number < Self.countMax else { return nil }
    return chunks[Int(number >> 8)].with { chunk in
      chunk.names[Int(number & 0xFF)].with { name in name.id }
    } ?? nil
  }

  /// Keeps a name that was read from a committed snapshot.
  package func insert(_ id: MemberID, at number: UInt32) {
    guard number < Self.countMax, !isFull else { return }
    let slot = Int(number >> 8)
    var added = 0
    if chunks[slot].isEmpty, chunks[slot].fill(Chunk()) { added += Chunk.byteCount }
    let isNew = chunks[slot].with { chunk in chunk.names[Int(number & 0xFF)].fill(Name(id)) }
    if isNew == true { added += Name.byteCount + MemoryShares.heapByteCount(of: id.string) }
    usedByteCount.wrappingAdd(added, ordering: .relaxed)
  }
}

/// A reference that is set once and then stays until its owner goes.
private struct Slot<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let bits = Atomic<UInt>(0)

  var isEmpty: Bool { bits.load(ordering: .relaxed) == 0 }

  /// What `body` makes of the object, whose references are not counted meanwhile.
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

  /// Sets the reference if it is not set yet; returns whether it was not.
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
