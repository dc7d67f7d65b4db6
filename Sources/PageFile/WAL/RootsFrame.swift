/// The frame of a commit that changes roots of trees 16 to 31.
///
/// See docs/page-file-format.md, W-23.
///
///     varint   0, where other frames have a page number
///     byte     kind: 5
///     varint   byte count of the rest
///     entries  each: byte tree number, varint root page number, 0 for a tree that is now empty
///
///  1. Only in a file with `MetaSlot.Features.moreTrees`, and at most one in a commit.
///  2. Trees ascend, so none is there twice. Trees that are not there keep their roots.
package enum RootsFrame {
  /// Appends the frame that turns the upper roots of one commit into those of the next.
  package static func append(from old: Roots, to new: Roots, to frames: inout ByteBuffer) {
    frames.append(varint: 0)
    frames.append(PagePatch.Kind.roots.rawValue)
    let place = frames.count
    frames.append(0 as UInt8)
    for tree in (Roots.lowerCount..<Roots.maximumCount).map(TreeNumber.init)
    where old[tree] != new[tree] {
      frames.append(UInt8(tree.rawValue))
      frames.append(varint: UInt64(new[tree].rawValue))
    }
    // Sixteen entries of at most 6 bytes: a varint of one byte.
    frames.mutableBytes[place] = UInt8(frames.count - place - 1)
  }

  /// Returns the roots that a frame names; nil if its bytes are malformed.
  package static func entries(_ frame: PagePatch.Frame) -> [(tree: TreeNumber, root: PageNumber)]? {
    var entries: [(tree: TreeNumber, root: PageNumber)] = []
    var reader = ByteReader(frame.ranges)
    var next = Roots.lowerCount
    while !reader.isAtEnd {
      guard let tree = reader.byte().map(Int.init), (next..<Roots.maximumCount).contains(tree),
        let root = reader.varint().flatMap(UInt32.init(exactly:))
      else { return nil }
      entries.append((TreeNumber(tree), PageNumber(root)))
      next = tree + 1
    }
    return entries.isEmpty ? nil : entries
  }

  /// Sets the roots that a frame names.
  ///
  /// Returns false, and changes nothing, if the frame is malformed or a root is not below the end
  /// of the page numbers.
  package static func apply(_ frame: PagePatch.Frame, to roots: inout Roots) -> Bool {
    guard let entries = entries(frame),
      entries.allSatisfy({ $0.root.rawValue < roots.pageNumberEnd })
    else { return false }
    for (tree, root) in entries { roots[tree] = root }
    return true
  }
}
