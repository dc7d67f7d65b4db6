import Synchronization

/// References, each of which is set once and stays until their owner is destroyed.
///
/// Reading one is an atomic load, without a lock and without counting references.
///
/// They are in memory of their own, since a class has no room for them in place: `InlineArray`
/// exists only on Apple's systems of 2025.
@safe
struct ReferenceSlots<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  // Unchecked: the address never changes, and the words behind it are atomic.
  private let words: UnsafeMutablePointer<Atomic<UInt>>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe words = .allocate(capacity: max(count, 1))
    for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  @inline(__always)
  private func check(_ index: Int) {
    precondition(index >= 0 && index < count, "ReferenceSlots: index out of range")
  }

  func isEmpty(_ index: Int) -> Bool {
    check(index)
    return unsafe words[index].load(ordering: .relaxed) == 0
  }

  /// Returns the result of `body` for the object at an index, or nil if it is not set.
  ///
  /// The object's references are not counted meanwhile.
  @inline(__always)
  func with<R>(_ index: Int, _ body: (Object) -> R) -> R? {
    check(index)
    let bits = unsafe words[index].load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    // Unsafe: the bits are those of a reference that `fill` has kept alive until `deinit`.
    return unsafe Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef { object in
      body(object)
    }
  }

  /// Sets the reference at an index unless it is set already.
  ///
  /// Returns true if it was not.
  func fill(_ index: Int, _ object: Object) -> Bool {
    check(index)
    let reference = unsafe Unmanaged.passRetained(object)
    let new = unsafe UInt(bitPattern: reference.toOpaque())
    let isNew = unsafe words[index].compareExchange(
      expected: 0, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
    if !isNew { unsafe reference.release() }
    return isNew
  }

  deinit {
    for index in 0..<count {
      let bits = unsafe words[index].load(ordering: .acquiring)
      // Unsafe: the reference that `fill` has kept alive.
      if let pointer = unsafe UnsafeRawPointer(bitPattern: bits) {
        unsafe Unmanaged<Object>.fromOpaque(pointer).release()
      }
    }
    unsafe words.deinitialize(count: count)
    unsafe words.deallocate()
  }
}
