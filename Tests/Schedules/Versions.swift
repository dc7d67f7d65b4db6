import PageFile

/// The stores of simulated processes: version n after n commits, with n under every key and in a
/// word, so that a mix of two shows at once.
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

  private static let tree = TreeNumber(0)
  /// The word that is the number of the version.
  private static let word = 5

  static func write(_ version: Int, to source: PageSource) throws(PageFileError) {
    try source.enter()
    defer { source.leave() }
    source.setWord(word, to: UInt64(version))
    let tree = BTree(source, Self.tree)
    for key in 0..<maximumKeyCount {
      try Bytes.with([UInt8(key)]) { (name) throws(PageFileError) in
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

  /// The version that a transaction sees; nil if it sees what is no version's.
  static func read(_ source: PageSource) throws(PageFileError) -> Int? {
    try source.enter()
    defer { source.leave() }
    var seen: [[UInt8]: [UInt8]] = [:]
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
    let version = seen.first.map { Int($0.value[0]) << 8 | Int($0.value[1]) } ?? 0
    let isWhole = seen == contents(of: version) && source.word(word) == UInt64(version)
    return isWhole ? version : nil
  }
}
