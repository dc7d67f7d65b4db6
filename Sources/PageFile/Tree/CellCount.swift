/// The value of a cell that counts: the number as a varint, empty for one.
///
/// A cell of which the number falls to zero is removed.
package enum CellCount {
  /// A limit from which counting on cannot overflow.
  package static let maximum: UInt64 = 1 << 60

  /// Returns the number that a value states, or nil if it is malformed.
  package static func decode(_ value: Bytes) -> UInt64? {
    if value.count == 0 { return 1 }
    var reader = ByteReader(value)
    guard let count = reader.varint(), 2...maximum ~= count, reader.isAtEnd else { return nil }
    return count
  }

  /// Appends the value of a number that is not 0.
  package static func append(_ count: UInt64, to value: inout ByteBuffer) {
    if count > 1 { value.append(varint: count) }
  }
}
