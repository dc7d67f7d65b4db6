/// Giving a value another key, as an entry of an order does when it comes to stand elsewhere.
extension BTree {
  /// Removes a key and stores a value under another one.
  ///
  /// Returns whether the first was there; if not, nothing is changed.
  ///
  /// Costs what removing and inserting do; less where both keys have one length and one leaf and the
  /// value stays the same: then the cell stays where it is in its page, and only the order changes.
  ///
  /// - Throws: what these two throw.
  package func rekey(
    _ key: Bytes, to other: Bytes, _ value: Bytes
  ) throws(PageFileError) -> Bool {
    if try rekeyInLeaf(key, to: other, value) { return true }
    guard try remove(key) else { return false }
    _ = try insert(other, value)
    return true
  }

  private func rekeyInLeaf(
    _ key: Bytes, to other: Bytes, _ value: Bytes
  ) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    BTree.checkKey(other)
    return try source.changing { () throws(PageFileError) in
      guard key.count == other.count, let leaf = try leaf(for: key),
        try self.leaf(for: other)?.number == leaf.number,
        case let found = leaf.search(key), found.isEqual,
        leaf.inlineValue(found.index)?.compare(to: value) == 0,
        case let target = leaf.search(other), !target.isEqual,
        CellKey(other).sharedByteCount(with: CellKey(leaf.prefix)) == leaf.prefixByteCount
      else { return false }
      try edit(leaf).rekey(at: found.index, to: CellKey(other), before: target.index)
      return true
    }
  }
}
