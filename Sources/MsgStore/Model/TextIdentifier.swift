/// An identifier made of text: 1 to 255 bytes of UTF-8, kept exactly and compared as plain bytes.
///
/// It is coded as a single string, as client and server models usually have identifiers. The limits
/// are checked when the identifier is passed to a store, not before.
public protocol TextIdentifier: Sendable, Hashable, Comparable, Codable,
  ExpressibleByStringLiteral, CustomStringConvertible
{
  /// The identifier as text.
  var string: String { get }

  /// Creates an identifier with this text.
  init(_ string: String)
}

extension TextIdentifier {
  /// Creates an identifier from a string literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// The identifier as text.
  public var description: String { string }

  /// Decodes an identifier from a string.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes the identifier as a string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }
}

/// The identifier of a conversation.
public struct ConversationID: TextIdentifier {
  /// The identifier as text.
  public let string: String

  /// Creates an identifier with this text.
  public init(_ string: String) { self.string = string }

  /// Compares the bytes for equality.
  @inlinable
  public static func == (a: Self, b: Self) -> Bool { a.string.hasSameBytes(as: b.string) }

  /// Orders by bytes.
  public static func < (a: Self, b: Self) -> Bool { a.string.precedesByBytes(b.string) }

  /// The number of UTF-8 bytes.
  @inlinable public var byteCount: Int { string.utf8.count }

  package func validate() throws(StoreError) {
    try Identifier.validate("conversation id", byteCount: byteCount)
  }
}

/// The identifier of a member.
public struct MemberID: TextIdentifier {
  /// The identifier as text.
  public let string: String

  /// Creates an identifier with this text.
  public init(_ string: String) { self.string = string }

  /// Compares the bytes for equality.
  @inlinable
  public static func == (a: Self, b: Self) -> Bool { a.string.hasSameBytes(as: b.string) }

  /// Orders by bytes.
  public static func < (a: Self, b: Self) -> Bool { a.string.precedesByBytes(b.string) }

  /// The number of UTF-8 bytes.
  @inlinable public var byteCount: Int { string.utf8.count }

  package func validate() throws(StoreError) {
    try Identifier.validate("member id", byteCount: byteCount)
  }
}
