import PageFile

// In a target that is optimised for tests: byte by byte, the tests' own code takes a hundred times
// as long.

extension [UInt8] {
  /// True if other bytes lie somewhere among these.
  package func holds(_ needle: [UInt8]) -> Bool {
    guard count >= needle.count else { return false }
    return (0...count - needle.count).contains { hasBytes(needle, at: $0) }
  }

  private func hasBytes(_ needle: [UInt8], at start: Int) -> Bool {
    for index in 0..<needle.count where self[start + index] != needle[index] { return false }
    return true
  }

  /// True if these are the same bytes as others.
  package func hasSameBytes(as other: [UInt8]) -> Bool {
    if count != other.count { return false }
    for index in 0..<count where self[index] != other[index] { return false }
    return true
  }
}

extension Bytes {
  /// The place of the first byte in a range that is not 0.
  package func firstNonZero(in range: Range<Int>) -> Int? { range.first { self[$0] != 0 } }
}

extension MemoryDirectory {
  /// True if bytes lie somewhere in the files of a store.
  package func holds(_ needle: [UInt8], inStore name: String = "store") -> Bool {
    [name, name + "-wal0", name + "-wal1"].contains { (self[$0] ?? []).holds(needle) }
  }

  /// True if a text lies somewhere in the files of a store.
  package func holds(_ text: String) -> Bool { holds(Array(text.utf8)) }
}
