package import PageFile

/// Everything a store holds: for each tree its keys, behind a byte for the tree's number, and their
/// values; and the words that are not 0, see `wordByte`.
package typealias Contents = [[UInt8]: [UInt8]]

extension Contents {
  /// The first byte of a word's key, where others have the number of a tree: the number of the word
  /// follows, and the value is the word, in eight bytes.
  package static var wordByte: UInt8 { 0xF0 }

  /// Contents without a key.
  package init(words: [Int: UInt64]) {
    self.init()
    for (index, word) in words { self[word: index] = word }
  }

  /// One of the words.
  package subscript(word index: Int) -> UInt64 {
    get {
      let bytes = self[[Self.wordByte, UInt8(index)]] ?? []
      return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    set {
      var bytes: [UInt8]?
      if newValue != 0 {
        bytes = stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: newValue >> $0) }
      }
      self[[Self.wordByte, UInt8(index)]] = bytes
    }
  }

  /// What a transaction sees.
  package init(_ source: PageSource) throws(PageFileError) {
    self.init()
    for index in 0..<Words.count { self[word: index] = source.word(index) }
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
      if key[0] == Self.wordByte {
        let index = Int(key[1])
        source.setWord(index, to: self[word: index])
        continue
      }
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
