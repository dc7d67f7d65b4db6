package import PageFile

/// The identifier of a message, unique in its conversation.
///
/// 1 to 255 bytes of UTF-8, kept exactly and compared as plain bytes. The limits are checked when
/// the id is passed to a store, not here.
///
/// A slice makes an id for every message that is accessed. Up to 31 bytes are therefore kept inline
/// without an allocation, and the string is made on demand. The value holds four words of
/// big-endian bytes, padded with zeros; the last byte is the length. Comparing the words as numbers
/// compares the bytes. A longer id has 255 as its length, which sorts it after the shorter ones
/// that are its prefixes, and keeps all its bytes in an object.
public struct MessageID: Sendable {
  /// The bytes of a name of up to 31 bytes, and their number in the last byte.
  @usableFromInline package typealias Words = (UInt64, UInt64, UInt64, UInt64)
  @usableFromInline package let words: Words
  @usableFromInline let long: LongName?

  static let maximumInlineByteCount = 31
  private static let longMark: UInt64 = 255

  /// Creates an id with this text.
  @inline(never)
  public init(_ string: String) {
    var buffer = ByteBuffer(capacity: 32)
    buffer.append(string)
    self.init(buffer.bytes)
  }

  /// Creates an id of up to 31 bytes from its words.
  @inlinable
  init(words: Words) {
    self.words = words
    long = nil
  }

  /// The words of an empty name.
  @usableFromInline static var noWords: Words { @inlinable get { (0, 0, 0, 0) } }

  /// The id without bytes, which no message has.
  ///
  /// Made from its words, so that constants with it are laid out by the compiler.
  static var empty: MessageID { MessageID(words: noWords) }

  /// Creates an id from its bytes, which must be followed by the slack that pages and `ByteBuffer`s
  /// have.
  @inline(never)
  package init(_ bytes: Bytes) {
    let isLong = bytes.count > Self.maximumInlineByteCount
    let mark = isLong ? Self.longMark : UInt64(bytes.count)
    words = (
      Self.word(bytes, at: 0, maximumByteCount: 8), Self.word(bytes, at: 8, maximumByteCount: 8),
      Self.word(bytes, at: 16, maximumByteCount: 8),
      Self.word(bytes, at: 24, maximumByteCount: 7) | mark
    )
    long = isLong ? LongName(bytes.array()) : nil
  }

  /// Creates an id of up to 31 bytes from an address at which 32 bytes can be read.
  @inlinable @unsafe
  init(_ start: UnsafeRawPointer, byteCount: Int) {
    unsafe words = (
      Self.word(start, byteCount), Self.word(start + 8, byteCount &- 8),
      Self.word(start + 16, byteCount &- 16),
      Self.word(start + 24, byteCount &- 24) | UInt64(truncatingIfNeeded: byteCount)
    )
    long = nil
  }

  /// Returns the first bytes at an address as a word, padded with zeros.
  @inlinable @unsafe
  static func word(_ start: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
    let word = UInt64(bigEndian: unsafe start.loadUnaligned(as: UInt64.self))
    return byteCount >= 8
      ? word : byteCount <= 0 ? 0 : word & (~0 &<< UInt64(truncatingIfNeeded: 64 &- byteCount &* 8))
  }

  private static func word(_ bytes: Bytes, at offset: Int, maximumByteCount: Int) -> UInt64 {
    offset >= bytes.count
      ? 0
      : bytes.bigEndianHead(at: offset, byteCount: min(bytes.count - offset, maximumByteCount))
  }

  /// The number of UTF-8 bytes.
  @inlinable public var byteCount: Int { long?.bytes.count ?? Int(words.3 & 0xFF) }

  /// The id as text, created anew at each call.
  public var string: String {
    var buffer = ByteBuffer(capacity: 32)
    buffer.append(self)
    return buffer.bytes.repairedText()
  }

  package func validate() throws(StoreError) {
    try Identifier.validate("message id", byteCount: byteCount)
  }

  /// The bytes of an id that does not fit inline.
  @usableFromInline
  final class LongName: Sendable {
    @usableFromInline let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
  }
}

extension MessageID: TextIdentifier {
  /// Compares the bytes for equality.
  @inlinable
  public static func == (a: Self, b: Self) -> Bool {
    a.words == b.words && ((a.long == nil && b.long == nil) || a.long?.bytes == b.long?.bytes)
  }

  /// Orders by bytes.
  public static func < (a: Self, b: Self) -> Bool {
    if a.words != b.words { return a.words < b.words }
    guard let a = a.long, let b = b.long else { return false }
    return a.bytes.lexicographicallyPrecedes(b.bytes)
  }

  /// Hashes the id.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
    if let long { hasher.combine(long.bytes) }
  }
}

extension ByteBuffer {
  /// Appends the bytes of a message's id.
  mutating func append(_ id: MessageID) { id.append(to: &self) }
}

extension MessageID {
  fileprivate func append(to buffer: inout ByteBuffer) {
    if let long { return buffer.append(long.bytes) }
    let end = buffer.count + byteCount
    buffer.append(bigEndian: words.0)
    if byteCount > 8 { buffer.append(bigEndian: words.1) }
    if byteCount > 16 { buffer.append(bigEndian: words.2) }
    if byteCount > 24 { buffer.append(bigEndian: words.3) }
    buffer.truncate(to: end)
  }
}
