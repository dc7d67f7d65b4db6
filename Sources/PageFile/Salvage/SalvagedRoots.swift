/// The root pages of a damaged store as far as they are known.
///
/// A commit header names the roots of trees 0 to 15. Those of trees 16 to 31 follow from a meta
/// slot and every commit after it. If no meta slot says where the log begins, only those count that
/// a commit of the log names. The others are unknown, which is not the same as empty: an empty tree
/// would contradict every page of the tree that a slot still holds.
///
/// See docs/page-file-format.md, W-23.
struct SalvagedRoots {
  private var roots: Roots
  /// The trees beyond 15 whose root is known, one bit each.
  private var known: UInt32

  /// The roots of a meta slot, which has all of them.
  init(_ meta: MetaSlot) {
    roots = meta.roots
    known = .max
  }

  /// The roots after a commit, before its frames are applied.
  init(_ commit: WALCommitHeader, after earlier: SalvagedRoots?) {
    roots = commit.roots
    known = earlier?.known ?? 0
    if let earlier { roots.keepUpper(of: earlier.roots) }
  }

  /// Returns the root of a tree, or nil if it is unknown.
  subscript(tree: TreeNumber) -> PageNumber? {
    let isKnown = tree.rawValue < Roots.lowerCount || known & 1 << UInt32(tree.rawValue) != 0
    return isKnown ? roots[tree] : nil
  }

  /// Sets the roots that a frame names; returns false if it is malformed.
  mutating func apply(_ frame: PagePatch.Frame) -> Bool {
    guard let entries = RootsFrame.entries(frame), RootsFrame.apply(frame, to: &roots) else {
      return false
    }
    for (tree, _) in entries { known |= 1 << UInt32(tree.rawValue) }
    return true
  }
}
