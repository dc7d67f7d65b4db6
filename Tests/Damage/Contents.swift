package import PageFile

/// Everything a store holds: for each tree its keys, behind a byte for the tree's number, and their
/// values.
package typealias Contents = [[UInt8]: [UInt8]]

extension Contents {
  /// What a transaction sees.
  package init(_ source: PageSource) throws(PageFileError) {
    self.init()
    try source.enter()
    defer { source.leave() }
    for number in 0..<Roots.maximumCount {
      var cursor = Cursor(source, TreeNumber(number))
      var isAtCell = try cursor.first()
      while isAtCell {
        var key = ByteBuffer()
        cursor.appendKey(to: &key)
        var value = ByteBuffer()
        try cursor.appendValue(to: &value)
        self[[UInt8(number)] + key.bytes.array()] = value.bytes.array()
        isAtCell = try cursor.next()
      }
    }
  }

  /// Makes a transaction see what this holds, changing only what differs from `old`.
  package func write(over old: Contents, to source: PageSource) throws(PageFileError) {
    try source.enter()
    defer { source.leave() }
    for key in Set(keys).union(old.keys).sorted(by: { $0.lexicographicallyPrecedes($1) })
    where self[key] != old[key] {
      let tree = BTree(source, TreeNumber(Int(key[0])))
      try Bytes.with(Array(key.dropFirst())) { (name) throws(PageFileError) in
        guard let value = self[key] else { return _ = try tree.remove(name) }
        try Bytes.with(value) { (value) throws(PageFileError) in
          _ = try tree.insert(name, value)
        }
      }
    }
  }
}

extension Database {
  /// The last commit and everything it left.
  package func state() throws(PageFileError) -> (lsn: Int, contents: Contents) {
    let transaction = try beginRead()
    return (Int(transaction.lsn.rawValue), try Contents(transaction.source))
  }
}
