/// Numbers that travel with a commit, as the roots do: reading one costs no walk, and writing one
/// changes no page.
///
/// PageFile gives them no meaning. Each is 0 until it is set. A commit that changes some has them
/// in a frame, see `WordsFrame`; meta slots have all of them.
///
/// See docs/page-file-format.md, M-14 and W-23.
package struct Words: Sendable, Equatable {
  package static let count = 24
  /// The number of words in the first of their two places in a meta slot.
  static let lowCount = 8

  /// Vectors, because they hold their numbers in place on every system.
  private var low = SIMD8<UInt64>(repeating: 0)
  private var middle = SIMD8<UInt64>(repeating: 0)
  private var high = SIMD8<UInt64>(repeating: 0)

  package init() {}

  package subscript(index: Int) -> UInt64 {
    get {
      switch index >> 3 {
      case 0: low[index]
      case 1: middle[index & 7]
      default: high[index & 7]
      }
    }
    set {
      switch index >> 3 {
      case 0: low[index] = newValue
      case 1: middle[index & 7] = newValue
      default: high[index & 7] = newValue
      }
    }
  }

  func append(_ range: Range<Int>, to buffer: inout ByteBuffer) {
    for index in range { buffer.append(littleEndian: self[index]) }
  }

  /// Reads words written by `append`; returns false if there are too few bytes.
  mutating func read(_ range: Range<Int>, _ reader: inout ByteReader) -> Bool {
    for index in range {
      guard let word = reader.uint64() else { return false }
      self[index] = word
    }
    return true
  }
}
