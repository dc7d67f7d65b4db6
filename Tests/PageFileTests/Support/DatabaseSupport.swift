import PageFile

/// Shorter ways to say what tests say all the time.
extension Database {
  func write(
    _ level: SyncLevel = .relaxed, _ body: (PageSource) throws(PageFileError) -> Void
  ) throws(PageFileError) {
    let transaction = try beginWrite()
    try body(transaction.source)
    _ = try transaction.commit(level)
  }

  func contents(of tree: Int = 0) throws(PageFileError) -> [[UInt8]: [UInt8]] {
    let transaction = try beginRead()
    return try PageFileTests.contents(of: transaction.source, tree)
  }

  func findings() throws(PageFileError) -> [CheckFinding] {
    var findings: [CheckFinding] = []
    try check { findings.append($0) }
    return findings
  }
}

func contents(of source: PageSource, _ tree: Int = 0) throws(PageFileError) -> [[UInt8]: [UInt8]] {
  try source.enter()
  defer { source.leave() }
  var result: [[UInt8]: [UInt8]] = [:]
  var cursor = Cursor(source, TreeNumber(tree))
  var isAtCell = try cursor.first()
  while isAtCell {
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    var value = ByteBuffer()
    try cursor.appendValue(to: &value)
    result[key.bytes.array()] = value.bytes.array()
    isAtCell = try cursor.next()
  }
  return result
}

extension PageSource {
  func put(_ key: [UInt8], _ value: [UInt8], tree: Int = 0) throws(PageFileError) {
    try enter()
    defer { leave() }
    try Bytes.with(key) { (key) throws(PageFileError) in
      try Bytes.with(value) { (value) throws(PageFileError) in
        _ = try BTree(self, TreeNumber(tree)).insert(key, value)
      }
    }
  }

  func remove(_ key: [UInt8], tree: Int = 0) throws(PageFileError) {
    try enter()
    defer { leave() }
    try Bytes.with(key) { (key) throws(PageFileError) in
      _ = try BTree(self, TreeNumber(tree)).remove(key)
    }
  }
}
