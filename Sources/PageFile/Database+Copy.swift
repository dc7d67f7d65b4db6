/// Copying the whole contents of one store into another.
extension Database {
  /// Returns true if a value lies in the leaf of its key, and not in an overflow chain.
  package func fitsInline(keyByteCount: Int, valueByteCount: Int) -> Bool {
    Cell.fitsInline(
      keyByteCount: keyByteCount, valueByteCount: valueByteCount,
      pageSize: engine.pager.contentByteCount)
  }

  /// The number of bytes of keys and values that one commit copies, give or take a cell.
  private static let maximumCopiedByteCount = 4 << 20

  /// Copies all trees of another database into this one, which must be empty.
  ///
  /// Copies cell by cell in key order, so that every page is filled before the next one is begun.
  /// Reads one moment, each page once, and commits every 4 MiB at `relaxed`, the words last.
  ///
  /// - Parameter progress: Called after each commit with the number of bytes copied so far.
  /// - Throws: The error of `progress`; the errors of reading there and writing here;
  ///   `snapshotExpired` if so much was written there meanwhile that the moment could not be kept.
  package func fill<E: Error>(
    from other: borrowing ReadTransaction, progress: (_ byteCount: Int) throws(E) -> Void
  ) throws {
    var byteCount = 0
    for tree in 0..<Roots.maximumCount {
      var next: [UInt8]? = []
      while let key = next {
        next = try copy(TreeNumber(tree), from: key, of: other.source, &byteCount)
        try progress(byteCount)
      }
    }
    let transaction = try beginWrite()
    for index in 0..<Words.count {
      transaction.source.setWord(index, to: other.source.word(index))
    }
    _ = try transaction.commit(.relaxed)
  }

  /// Copies the cells of one commit.
  ///
  /// Returns the first key that is left, or nil at the end.
  private func copy(
    _ tree: TreeNumber, from key: [UInt8], of source: PageSource, _ byteCount: inout Int
  ) throws(PageFileError) -> [UInt8]? {
    // The bracket covers one commit only; pages read before it may then be released.
    try source.enter()
    defer { source.leave() }
    var cursor = Cursor(source, tree)
    if key.isEmpty {
      guard try cursor.first() else { return nil }
    } else {
      var buffer = ByteBuffer(capacity: BTree.maximumKeyByteCount)
      buffer.append(key)
      _ = try cursor.seek(buffer.bytes)
    }
    let transaction = try beginWrite()
    let next = try Self.copy(&cursor, to: transaction.source, tree, &byteCount)
    _ = try transaction.commit(.relaxed)
    return next
  }

  private static func copy(
    _ cursor: inout Cursor, to target: PageSource, _ tree: TreeNumber, _ copied: inout Int
  ) throws(PageFileError) -> [UInt8]? {
    try target.enter()
    defer { target.leave() }
    var key = ByteBuffer(capacity: BTree.maximumKeyByteCount)
    var value = ByteBuffer(capacity: 4096)
    var byteCount = 0
    defer { copied += byteCount }
    while cursor.isAtCell {
      key.removeAll()
      cursor.appendKey(to: &key)
      if byteCount >= maximumCopiedByteCount { return key.bytes.array() }
      value.removeAll()
      try cursor.appendValue(to: &value)
      byteCount += key.count + value.count
      _ = try BTree(target, tree).insert(key.bytes, value.bytes)
      _ = try cursor.next()
    }
    return nil
  }
}
