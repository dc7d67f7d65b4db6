import PageFile
import Testing

/// A lookup also tells if an absent key would be the last of those that begin as it does.
struct LastOfSameTests {
  private static let prefixByteCount = 2

  private func isLast(
    _ key: [UInt8], in tree: ArrayTree, _ value: inout ByteBuffer
  ) throws -> (isThere: Bool, isLast: Bool) {
    try tree.source.enter()
    defer { tree.source.leave() }
    return try Bytes.with(key) { bytes in
      try BTree(tree.source, treeUnderTest).value(
        of: bytes, appendTo: &value, lastOfSame: Self.prefixByteCount)
    }
  }

  /// Keys of a few prefixes; in trees of one to three levels.
  @Test(arguments: [(0, 0), (20, 1), (600, 1), (1500, 900)])
  func noKeyIsMissed(count: Int, valueByteCount: Int) throws {
    let seed = SeededGenerator.freshSeed()
    print("noKeyIsMissed seed \(seed)")
    var random = SeededGenerator(seed: seed)
    func key() -> [UInt8] {
      let rest = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      return [0, UInt8.random(in: 0...6, using: &random)] + rest
    }
    let tree = try ArrayTree(pageSize: 4096)
    var keys: Set<[UInt8]> = []
    for _ in 0..<count {
      let key = key()
      keys.insert(key)
      _ = try tree.insert(key, [UInt8](repeating: 7, count: valueByteCount))
    }
    var lastCount = 0
    for index in 0..<600 {
      // Some behind all others of their prefix.
      let key = index % 4 == 0 ? [0, UInt8(index % 7), 255, 255, 255, 255] : key()
      var value = ByteBuffer()
      let found = try isLast(key, in: tree, &value)
      #expect(found.isThere == keys.contains(key), "seed \(seed), \(key)")
      #expect(value.count == (found.isThere ? valueByteCount : 0))
      let isAbove = keys.contains { other in
        other.starts(with: key.prefix(Self.prefixByteCount))
          && key.lexicographicallyPrecedes(other)
      }
      #expect(!found.isLast || !isAbove && !found.isThere, "seed \(seed), \(key)")
      if found.isLast { lastCount += 1 }
    }
    // That of keys at the end of a leaf may stay unknown.
    #expect(lastCount >= 60)
  }
}
