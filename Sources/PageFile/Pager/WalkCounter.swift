/// Counts the walks of a task, each from a root to a leaf, by tree.
///
/// In a release build it counts nothing and costs nothing. Tests set it for the calls that they
/// measure:
///
///     let counter = WalkCounter()
///     try WalkCounter.current.withValue(counter) { try store.write { … } }
package final class WalkCounter: Sendable {
  /// The counter of the current task; nil if nobody counts.
  package static let current = TaskLocal<WalkCounter?>(wrappedValue: nil)

  /// The purpose of a walk.
  package enum Purpose: Sendable { case read, write }

  /// The numbers of walks by tree.
  package struct Counts: Sendable {
    package private(set) var read: [TreeNumber: Int] = [:]
    package private(set) var write: [TreeNumber: Int] = [:]

    mutating func add(_ tree: TreeNumber, _ purpose: Purpose) {
      switch purpose {
      case .read: read[tree, default: 0] += 1
      case .write: write[tree, default: 0] += 1
      }
    }
  }

  private let state = Locked(Counts())

  package init() {}

  /// The walks so far.
  package var counts: Counts { state.withLock { $0 } }

  @inline(never)
  private func add(_ tree: TreeNumber, _ purpose: Purpose) {
    state.withLock { $0.add(tree, purpose) }
  }

  @inline(__always)
  static func note(_ tree: TreeNumber, _ purpose: Purpose) {
    #if DEBUG
      current.get()?.add(tree, purpose)
    #endif
  }
}
