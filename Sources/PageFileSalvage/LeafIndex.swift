import PageFile

/// The leaves of one tree in key order, found without the help of branches.
///
/// Leaves of one moment never overlap. If two do, one of them is a remnant of keys that moved
/// elsewhere. The page that took the keys was changed by that same commit or a later one, so the
/// newer leaf counts.
struct LeafIndex {
  struct Leaf {
    let number: PageNumber
    let provenLSN: LSN
    let isCertain: Bool
    fileprivate let keyOffset: Int
    fileprivate let firstByteCount: Int
    fileprivate let lastByteCount: Int
  }

  private(set) var leaves: [Leaf] = []
  /// The first and the last key of each leaf.
  private let keys: Keys

  private final class Keys {
    var buffer = ByteBuffer(capacity: 4096)
  }

  init(_ pages: SalvagedPages, tree: TreeNumber) {
    keys = Keys()
    for entry in pages.entries where entry.page.kind == .leaf {
      guard Int(entry.page.tree) == tree.rawValue,
        let found = pages.page(PageNumber(entry.page.number))
      else { continue }
      let page = TreePage(found.bytes)
      let offset = keys.buffer.count
      page.key(0).append(dropping: 0, to: &keys.buffer)
      page.key(page.cellCount - 1).append(dropping: 0, to: &keys.buffer)
      leaves.append(
        Leaf(
          number: page.number, provenLSN: entry.provenLSN,
          isCertain: entry.isCertain, keyOffset: offset,
          firstByteCount: page.keyByteCount(0),
          lastByteCount: page.keyByteCount(page.cellCount - 1)))
    }
    let bytes = keys.buffer.bytes
    leaves.sort { Self.first($0, bytes).compare(to: Self.first($1, bytes)) < 0 }
    removeOverlaps()
  }

  private mutating func removeOverlaps() {
    let bytes = keys.buffer.bytes
    var kept: [Leaf] = []
    for leaf in leaves {
      var isKept = true
      while let last = kept.last,
        Self.last(last, bytes).compare(to: Self.first(leaf, bytes)) >= 0
      {
        isKept = last.isCertain == leaf.isCertain ? leaf.provenLSN > last.provenLSN : leaf.isCertain
        if !isKept { break }
        kept.removeLast()
      }
      if isKept { kept.append(leaf) }
    }
    leaves = kept
  }

  private static func first(_ leaf: Leaf, _ bytes: Bytes) -> Bytes {
    bytes.slice(leaf.keyOffset, leaf.firstByteCount)
  }

  private static func last(_ leaf: Leaf, _ bytes: Bytes) -> Bytes {
    bytes.slice(leaf.keyOffset + leaf.firstByteCount, leaf.lastByteCount)
  }

  /// Returns the last leaf whose first key is not above `key`.
  func index(before key: Bytes) -> Int? {
    let bytes = keys.buffer.bytes
    let behind = leaves.firstIndex(inOrder: { Self.first($0, bytes).compare(to: key) > 0 })
    return behind == 0 ? nil : behind - 1
  }

  /// Returns true if a key at or above the leaf's first key lies within the leaf.
  func covers(_ index: Int, _ key: Bytes) -> Bool {
    Self.last(leaves[index], keys.buffer.bytes).compare(to: key) >= 0
  }
}
