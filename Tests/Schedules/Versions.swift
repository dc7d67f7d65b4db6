import PageFile

/// What the stores of simulated processes hold: version n after n commits, with n under every key, so
/// that a mix of two shows at once.
package enum Versions {
  package static func contents(of version: Int) -> [[UInt8]: [UInt8]] {
    if version == 0 { return [:] }
    var contents: [[UInt8]: [UInt8]] = [:]
    for key in 0..<keyCount(version) { contents[[UInt8(key)]] = value(version, key) }
    return contents
  }

  private static let maximumKeyCount = 12
  private static func keyCount(_ version: Int) -> Int { 4 + version * 5 % 9 }

  /// Long enough for pages to split and merge, and now and then for an overflow chain.
  private static func value(_ version: Int, _ key: Int) -> [UInt8] {
    let isLong = (version + key) % 11 == 0
    let byteCount = isLong ? 3000 : 20 + (version * 131 + key * 97) % 700
    return [UInt8(version >> 8), UInt8(version & 255)]
      + [UInt8](repeating: UInt8(key), count: byteCount)
  }

  /// Where keys lie: odd ones beyond tree 15 from the first version on that can write there.
  private static let trees = [TreeNumber(0), TreeNumber(21)]

  static func write(_ version: Int, to source: PageSource) throws(PageFileError) {
    try source.enter()
    defer { source.leave() }
    let hasMoreTrees = trees[1].rawValue < source.treeCount
    for key in 0..<maximumKeyCount {
      let isBeyond = hasMoreTrees && key % 2 == 1
      let tree = BTree(source, trees[isBeyond ? 1 : 0])
      try Bytes.with([UInt8(key)]) { (name) throws(PageFileError) in
        if isBeyond { _ = try BTree(source, trees[0]).remove(name) }
        if key < keyCount(version) {
          try Bytes.with(value(version, key)) { (value) throws(PageFileError) in
            _ = try tree.insert(name, value)
          }
        } else {
          _ = try tree.remove(name)
        }
      }
    }
  }

  /// The version that a transaction sees; nil when what it sees is no version's.
  static func read(_ source: PageSource) throws(PageFileError) -> Int? {
    try source.enter()
    defer { source.leave() }
    var seen: [[UInt8]: [UInt8]] = [:]
    for tree in trees {
      var cursor = Cursor(source, tree)
      var isAtCell = try cursor.first()
      while isAtCell {
        var key = ByteBuffer()
        cursor.appendKey(to: &key)
        var value = ByteBuffer()
        try cursor.appendValue(to: &value)
        if seen.updateValue(value.bytes.array(), forKey: key.bytes.array()) != nil { return nil }
        isAtCell = try cursor.next()
      }
    }
    let version = seen.first.map { Int($0.value[0]) << 8 | Int($0.value[1]) } ?? 0
    return seen == contents(of: version) ? version : nil
  }
}
