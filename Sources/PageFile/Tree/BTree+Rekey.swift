/// Rekeying: moving a value to another key, as when an entry of an order changes its place.
extension BTree {
  /// Removes a key and stores a value under another one.
  ///
  /// Returns true if the first key was present; if not, nothing is changed.
  ///
  /// Costs as much as a removal and an insertion. It is cheaper if both keys have the same length
  /// and lie in the same leaf, and the value stays the same: then the cell keeps its place in the
  /// page and only the order changes.
  ///
  /// - Throws: The errors of `remove` and `insert`.
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
