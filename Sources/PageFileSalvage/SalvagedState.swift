import PageFile

/// The roots and the words of a damaged store as far as they are known.
///
/// Each commit header names all roots. The words follow from a meta slot and every commit after it.
/// If no meta slot says where the log begins, only those count that a commit of the log names. The
/// others are unknown, which is not the same as 0.
///
/// See docs/page-file-format.md, W-23.
struct SalvagedState {
  private(set) var roots: Roots
  /// The words that are known, one bit each.
  private var known: UInt32

  /// The state of a meta slot, which has all of it.
  init(_ meta: MetaSlot) {
    roots = meta.roots
    known = .max
  }

  /// The state after a commit, before its frames are applied.
  init(_ commit: WALCommitHeader, after earlier: SalvagedState?) {
    roots = commit.roots
    known = earlier?.known ?? 0
    if let earlier { roots.words = earlier.roots.words }
  }

  /// Returns a word, or nil if it is unknown.
  func word(_ index: Int) -> UInt64? {
    known & 1 << UInt32(index) != 0 ? roots.words[index] : nil
  }

  /// Sets the words that a frame names; returns false if it is malformed.
  mutating func apply(_ frame: PagePatch.Frame) -> Bool {
    guard let entries = WordsFrame.entries(frame), WordsFrame.apply(frame, to: &roots.words) else {
      return false
    }
    for (index, _) in entries { known |= 1 << UInt32(index) }
    return true
  }
}
