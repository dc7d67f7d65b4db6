/// The places of a dictionary, by hashes of their first four, six, and eight bytes.
///
/// Made once and never changed, so nothing is copied or cleared for a text. Of places with the
/// same bytes the last is remembered: of three tables it mostly is one with a long match. Chains of
/// all places take twice as long for 2 % (docs/decisions.md). The owner frees the tables.
@safe
struct DictionaryTables {
  static let tableBits = 15
  private static let tableCount = 1 << tableBits
  /// A byte between the strings of a dictionary, which occurs in no text.
  private static let separator: UInt8 = 0xFF

  private let four: UnsafeMutableBufferPointer<UInt16>
  private let six: UnsafeMutableBufferPointer<UInt16>
  private let eight: UnsafeMutableBufferPointer<UInt16>

  /// Creates the tables of a dictionary of at most 65,535 bytes.
  init(_ dictionary: Window) {
    unsafe four = .zeros(Self.tableCount)
    unsafe six = .zeros(Self.tableCount)
    unsafe eight = .zeros(Self.tableCount)
    var place = 0
    while place &+ 8 <= dictionary.count {
      // Unsafe: eight bytes are there; a hash is below the size of the tables.
      let word = unsafe dictionary.word64(at: place)
      let byteCount = Self.byteCount(beforeSeparatorIn: word)
      let entry = UInt16(truncatingIfNeeded: place)
      if byteCount >= 4 { unsafe four[Matches.hash(word, 4, Self.tableBits)] = entry }
      if byteCount >= 6 { unsafe six[Matches.hash(word, 6, Self.tableBits)] = entry }
      if byteCount >= 8 { unsafe eight[Matches.hash(word, 8, Self.tableBits)] = entry }
      place &+= 1
    }
  }

  func deallocate() {
    unsafe four.deallocate()
    unsafe six.deallocate()
    unsafe eight.deallocate()
  }

  /// Returns a place whose first bytes may be those of a word, or any place without a match.
  @inline(__always)
  func placeOfFour(_ word: UInt64) -> Int {
    // Unsafe: a hash is below the size of the table.
    Int(unsafe four[Matches.hash(word, 4, Self.tableBits)])
  }

  @inline(__always)
  func placeOfSix(_ word: UInt64) -> Int {
    // Unsafe: as above.
    Int(unsafe six[Matches.hash(word, 6, Self.tableBits)])
  }

  @inline(__always)
  func placeOfEight(_ word: UInt64) -> Int {
    // Unsafe: as above.
    Int(unsafe eight[Matches.hash(word, 8, Self.tableBits)])
  }

  private static func byteCount(beforeSeparatorIn word: UInt64) -> Int {
    for index in 0..<8 where UInt8(truncatingIfNeeded: word >> UInt64(8 * index)) == separator {
      return index
    }
    return 8
  }
}
