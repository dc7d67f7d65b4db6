/// What all identifiers have in common: 1 to 255 bytes of UTF-8, compared as plain bytes.
///
/// Swift's own `==` on strings takes "é" in one scalar and in two for the same. Two identifiers that
/// differ in a byte are different here, as they are to the server that made them.
enum Identifier {
  /// The most bytes an identifier may have.
  static let byteCountMax = 255

  /// Refuses what is empty or too long.
  static func validate(_ what: String, byteCount: Int) throws(StoreError) {
    guard (1...byteCountMax).contains(byteCount) else {
      throw .invalidIdentifier(what: what, byteCount: byteCount)
    }
  }
}

extension String {
  /// Equality of the bytes, where `==` would be that of the characters.
  func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }

  func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
