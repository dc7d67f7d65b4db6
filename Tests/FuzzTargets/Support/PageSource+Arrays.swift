import PageFile

/// The verbs of a tree with arrays for keys and values.
extension PageSource {
  func put(_ key: [UInt8], _ value: [UInt8], tree: Int) throws(PageFileError) {
    try enter()
    defer { leave() }
    try Bytes.with(key) { (key) throws(PageFileError) in
      try Bytes.with(value) { (value) throws(PageFileError) in
        _ = try BTree(self, TreeNumber(tree)).insert(key, value)
      }
    }
  }

  func remove(_ key: [UInt8], tree: Int) throws(PageFileError) -> Bool {
    try enter()
    defer { leave() }
    return try Bytes.with(key) { (key) throws(PageFileError) in
      try BTree(self, TreeNumber(tree)).remove(key)
    }
  }

  func value(of key: [UInt8], tree: Int) throws(PageFileError) -> [UInt8]? {
    try enter()
    defer { leave() }
    var buffer = ByteBuffer()
    let isThere = try Bytes.with(key) { (key) throws(PageFileError) in
      try BTree(self, TreeNumber(tree)).value(of: key, appendTo: &buffer)
    }
    return isThere ? buffer.bytes.array() : nil
  }
}
