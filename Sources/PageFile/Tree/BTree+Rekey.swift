/// Rekeying: moving a value to another key, as when an entry of an order changes its place.
extension BTree {
  /// Removes a key and stores a value under another one.
  ///
  /// Returns true if the first key was present; if not, nothing is changed.
  ///
  /// Costs as much as a removal and an insertion, and a descent less if both keys lie in one leaf.
  /// If besides both keys have the same length and the value stays the same, the cell keeps its
  /// place in the page and only the order changes.
  ///
  /// - Throws: The errors of `remove` and `insert`.
  package func rekey(
    _ key: Bytes, to other: Bytes, _ value: Bytes
  ) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    BTree.checkKey(other)
    try BTree.checkValue(value)
    return try source.changing { () throws(PageFileError) in try move(key, to: other, value) }
  }

  private func move(
    _ key: Bytes, to other: Bytes, _ value: Bytes
  ) throws(PageFileError) -> Bool {
    guard let (found, isFirst, isLast, isHeld) = try placeAndEdges(of: key), found.isEqual
    else { return false }
    let leaf = found.leaf
    let inLeaf = Place(of: other, in: leaf)
    let isAbove = inLeaf.isEqual || inLeaf.index > 0 || isFirst
    let isBelow = inLeaf.index < leaf.cellCount || isLast
    let otherPlace = isAbove && isBelow && isHeld ? inLeaf : try place(of: other, to: .write)
    let isOneLeaf = otherPlace?.leaf.number == leaf.number
    if isOneLeaf, key.count == other.count, !inLeaf.isEqual,
      leaf.inlineValue(found.index)?.compare(to: value) == 0,
      CellKey(other).sharedByteCount(with: CellKey(leaf.prefix)) == leaf.prefixByteCount
    {
      try edit(leaf).rekey(at: found.index, to: CellKey(other), before: inLeaf.index)
      return true
    }
    // A removal that merges pages leaves nothing where it was found.
    if let rest = try takeOut(key, at: found.index, of: leaf) {
      _ = try put(other, value, at: isOneLeaf ? Place(of: other, in: rest) : otherPlace)
    } else {
      _ = try put(other, value, at: try place(of: other, to: .write))
    }
    return true
  }

  /// Returns the place of a key, whether its leaf is known to be the first or the last one of the
  /// tree, and whether all keys of the leaf lie between the separators around it; nil if the tree
  /// is empty.
  private func placeAndEdges(
    of key: Bytes
  ) throws(PageFileError) -> (place: Place, isFirst: Bool, isLast: Bool, isHeld: Bool)? {
    if let place = try recentPlace(of: key) { return (place, false, false, true) }
    guard let (place, bounds) = try descend(to: key, .write) else { return nil }
    let isHeld = bounds.contradiction == nil && bounds.hold(place.leaf)
    return (place, bounds.lower == nil, bounds.upper == nil, isHeld)
  }
}
