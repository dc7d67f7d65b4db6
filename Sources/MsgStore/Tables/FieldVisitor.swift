package import PageFile

/// A visitor of the fields of a record, in their stored order.
///
/// A record says its fields once, in `visit`. One visitor reads them, and one writes them. Another
/// one, in the tests, describes them: it makes the tables in docs/message-format.md.
///
/// The names are those of the tables. No visitor of this module uses them, so they cost nothing.
package protocol FieldVisitor: ~Copyable {
  /// Visits a number of fixed width, little-endian.
  mutating func fixed<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString)
  /// Visits a varint; a negative number is written as zero.
  mutating func varint<T: FixedWidthInteger>(
    _ value: inout T, maximum: T, _ field: StaticString)
  /// Visits a signed varint.
  mutating func signedVarint<T: FixedWidthInteger & SignedInteger>(
    _ value: inout T, _ field: StaticString)
  /// Visits a text, a name, a position, or bytes.
  mutating func bytes<T: FieldBytes>(
    _ value: inout T, _ length: FieldLength, in byteCounts: ClosedRange<Int>,
    _ field: StaticString)
  /// Visits a part that has a table of its own.
  mutating func part<T: FieldRecord>(_ value: inout T, _ field: StaticString)
  /// Visits elements, whose count was visited before.
  mutating func elements<T>(
    _ elements: inout [T], of empty: T, count: Int, _ field: StaticString,
    _ visit: (inout Self, inout T) -> Void)
  /// Visits the flags, which say what fields follow; a record has them once at most.
  mutating func flags(_ length: FieldLength)
  /// Visits a flag: returns true if it is set, and so if the field that it guards follows.
  mutating func has(_ flag: UInt64, _ isSet: Bool) -> Bool
  /// Visits flags that guard no field: returns those that are set.
  mutating func bits(_ mask: UInt64, _ set: UInt64) -> UInt64
  /// Visits a byte that is 1 if a field follows, else 0.
  mutating func follows(_ isSet: Bool, _ field: StaticString) -> Bool
  /// Visits a byte of 1 at the end of a record, which is missing instead of 0.
  mutating func lastMark(_ isSet: inout Bool, _ field: StaticString)
  /// Visits zeros up to the end of a record.
  mutating func zeros()
  /// Refuses the record unless its values are valid.
  mutating func require(_ isValid: @autoclosure () -> Bool)
}

/// The form in which the length of bytes stands before them, or of flags.
package enum FieldLength {
  case byte, uint16, uint32, varint
  /// The bytes reach up to the end of the record.
  case rest
}

/// Fields that follow from others.
extension FieldVisitor where Self: ~Copyable {
  package mutating func part<T: FieldRecord>(_ value: inout T, _ field: StaticString) {
    value.visit(&self)
  }

  mutating func tag(_ tag: UInt8) {
    var byte = tag
    fixed(&byte, "tag")
    require(byte == tag)
  }

  mutating func varint<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString) {
    varint(&value, maximum: .max, field)
  }

  package mutating func follows(_ isSet: Bool, _ field: StaticString) -> Bool {
    var byte: UInt8 = isSet ? 1 : 0
    fixed(&byte, field)
    require(byte <= 1)
    return byte == 1
  }

  /// Visits one of the cases of an enumeration.
  mutating func code<T: RawRepresentable<UInt8>>(_ value: inout T, _ field: StaticString) {
    var code = value.rawValue
    fixed(&code, field)
    if let known = T(rawValue: code) { value = known } else { require(false) }
  }

  /// Visits the code of a case that may have values, which are visited next.
  ///
  /// - Parameter cases: An example of each case, in the order of their codes.
  mutating func choice<T>(
    _ value: inout T, code: UInt8, from first: UInt8, of cases: @autoclosure () -> [T],
    _ field: StaticString
  ) {
    var known = code
    fixed(&known, field)
    if known == code { return }
    let (index, cases) = (Int(known) - Int(first), cases())
    if cases.indices.contains(index) { value = cases[index] } else { require(false) }
  }

  package mutating func has(_ flag: UInt64, _ isSet: Bool) -> Bool {
    bits(flag, isSet ? flag : 0) != 0
  }

  /// Visits a flag that guards no field.
  mutating func mark(_ flag: UInt64, _ isSet: inout Bool) {
    isSet = bits(flag, isSet ? flag : 0) != 0
  }

  /// Visits a field that is there if its flag is set.
  @inline(__always)
  mutating func optional<T>(
    _ flag: UInt64, _ value: inout T?, or empty: T, _ visit: (inout Self, inout T) -> Void
  ) {
    guard has(flag, value != nil) else { return }
    var present = value ?? empty
    visit(&self, &present)
    value = present
  }

  /// Visits the name of a message, a conversation, or an attachment.
  mutating func name<T: FieldBytes>(_ name: inout T, _ field: StaticString) {
    bytes(&name, .byte, in: 1...Identifier.maximumByteCount, field)
  }

  /// Visits the earliest known time of something, behind a byte that says if there is one.
  mutating func known(_ time: inout Int64?) {
    guard follows(time != nil, "1 with the earliest known time, else 0") else { return }
    var known = time ?? 0
    fixed(&known, "this time")
    time = known
  }

  /// Visits the position of a message.
  mutating func position(_ position: inout MessagePosition, _ field: StaticString) {
    bytes(&position, .uint16, in: 0 ... .max, field)
    require(position.id.byteCount > 0)
  }

  /// Visits numbers of members, varints.
  mutating func numbers(_ numbers: inout [UInt32], count: Int, _ field: StaticString) {
    elements(&numbers, of: 0, count: count, field) { fields, number in
      fields.varint(&number, "number")
    }
  }
}

/// A value stored as bytes whose length stands before them.
package protocol FieldBytes {
  var byteCount: Int { get }
  /// Decodes a value, or returns nil if the bytes are not a valid one.
  init?(field: Bytes)
  /// Returns true if `init(field:)` would decode the bytes.
  static func isValid(field: Bytes) -> Bool
  func append(field buffer: inout ByteBuffer)
}

extension FieldBytes {
  package static func isValid(field: Bytes) -> Bool { Self(field: field) != nil }
}

extension String: FieldBytes {
  package var byteCount: Int { utf8.count }
  package static func isValid(field bytes: Bytes) -> Bool { bytes.isText }
  package init?(field bytes: Bytes) {
    guard bytes.isText else { return nil }
    // Unsafe: validated just above.
    self = unsafe bytes.uncheckedText()
  }
  package func append(field buffer: inout ByteBuffer) { buffer.append(self) }
}

extension MessageID: FieldBytes {
  package init?(field bytes: Bytes) {
    guard bytes.isText else { return nil }
    self.init(bytes)
  }
  package func append(field buffer: inout ByteBuffer) { buffer.append(self) }
}

extension ConversationID: FieldBytes {
  package init?(field bytes: Bytes) {
    guard let text = String(field: bytes) else { return nil }
    self.init(text)
  }
  package func append(field buffer: inout ByteBuffer) { buffer.append(string) }
}

/// As the last field of a record, with its zeros.
extension ConversationSummary: FieldBytes {
  package var byteCount: Int { 0 }
  package init?(field bytes: Bytes) { self.init(bytes) }
  package func append(field buffer: inout ByteBuffer) { append(to: &buffer) }
}

/// As the last field of a record.
extension MessageTraits: FieldBytes {
  package var byteCount: Int { 0 }
  package init?(field bytes: Bytes) { self.init(bytes) }
  package func append(field buffer: inout ByteBuffer) { append(to: &buffer) }
}

extension [UInt8]: FieldBytes {
  package var byteCount: Int { count }
  package static func isValid(field bytes: Bytes) -> Bool { true }
  package init?(field bytes: Bytes) { self = bytes.array() }
  package func append(field buffer: inout ByteBuffer) { buffer.append(self) }
}

/// A position in a record may have an empty name, as between two messages.
extension MessagePosition: FieldBytes {
  static let lowest = MessagePosition(.acknowledged(0, sequence: nil), .empty)
  package var byteCount: Int { (place.isPending ? 17 : place.hasRank ? 18 : 10) + id.byteCount }
  package init?(field bytes: Bytes) {
    guard let (place, byteCount) = bytes.place(at: 0),
      case let id = bytes.dropFirst(byteCount),
      id.count <= Identifier.maximumByteCount, id.isText
    else { return nil }
    self.init(place, MessageID(id))
  }
  package func append(field buffer: inout ByteBuffer) { buffer.append(self) }
}
