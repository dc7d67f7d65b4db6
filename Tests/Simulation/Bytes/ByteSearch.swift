import Foundation
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
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress
        else { return true }
        return unsafe memcmp(mine, theirs, count) == 0
      }
    }
  }

  /// Changes these bytes to printable ones.
  package mutating func makePrintable() {
    for index in 0..<count { self[index] = 33 + self[index] % 94 }
  }

  /// The place of the first byte of a value, from a place on.
  package func place(of byte: UInt8, from start: Int) -> Int? {
    (start..<count).first { self[$0] == byte }
  }
}

extension [[UInt8]: [UInt8]] {
  /// True if these are the same keys as others, with the same values.
  package func hasSameBytes(as other: Self) -> Bool { self == other }
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
