import PageFile

/// Reading and writing what a ledger says.
enum Cells {
  static func change(
    _ act: Act, _ contents: inout Ledger.Contents, _ ledger: Ledger, _ source: PageSource
  ) throws(PageFileError) {
    let tree = BTree(source, TreeNumber(0))
    for key in act.keys where key < Ledger.keyCount {
      let removes = act.verb == .remove || act.verb == .erase
      let number = removes ? 0 : ledger.newValue(byteCount: act.byteCount)
      contents[key] = number
      try source.enter()
      defer { source.leave() }
      try Bytes.with(Ledger.key(key)) { (name) throws(PageFileError) in
        guard let value = ledger.value(number, of: key) else { return _ = try tree.remove(name) }
        try Bytes.with(value) { (value) throws(PageFileError) in
          _ = try tree.insert(name, value)
        }
      }
    }
  }

  /// Whether the keys have the values that they should.
  static func areRight(
    _ keys: Range<Int>, _ contents: Ledger.Contents, _ ledger: Ledger, _ source: PageSource
  ) throws(PageFileError) -> Bool {
    for key in keys where key < Ledger.keyCount {
      try source.enter()
      defer { source.leave() }
      if try value(key, source) != ledger.value(contents[key], of: key) { return false }
    }
    return true
  }

  private static func value(
    _ key: Int, _ source: PageSource
  ) throws(PageFileError) -> [UInt8]? {
    var value = ByteBuffer()
    let isThere = try Bytes.with(Ledger.key(key)) { (name) throws(PageFileError) in
      try BTree(source, TreeNumber(0)).value(of: name, appendTo: &value)
    }
    return isThere ? value.bytes.array() : nil
  }

  /// Whether there is what there should be and nothing else, read in one bracket.
  static func areAllRight(
    _ contents: Ledger.Contents, _ ledger: Ledger, _ source: PageSource
  ) throws(PageFileError) -> Bool {
    try source.enter()
    defer { source.leave() }
    var cursor = Cursor(source, TreeNumber(0))
    var isAtCell = try cursor.first()
    var name = ByteBuffer()
    var value = ByteBuffer()
    for key in contents.indices where contents[key] != 0 {
      guard isAtCell, let expected = ledger.value(contents[key], of: key) else { return false }
      name.removeAll()
      value.removeAll()
      cursor.appendKey(to: &name)
      try cursor.appendValue(to: &value)
      if name.bytes.array() != Ledger.key(key) || value.bytes.array() != expected { return false }
      isAtCell = try cursor.next()
    }
    return !isAtCell
  }
}
