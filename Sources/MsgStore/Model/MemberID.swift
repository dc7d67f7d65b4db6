/// The identifier of a member.
///
/// 1 to 255 bytes of UTF-8, kept exactly and compared as plain bytes. The limits are checked when
/// the id is passed to a store, not here.
public struct MemberID: Sendable, Hashable, Comparable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The identifier as text.
  public let string: String

  /// Creates an identifier with this text.
  public init(_ string: String) { self.string = string }

  /// Creates an identifier from a string literal.
  public init(stringLiteral value: String) { string = value }

  /// The number of UTF-8 bytes.
  @inlinable public var byteCount: Int { string.utf8.count }

  /// The identifier as text.
  public var description: String { string }

  /// Compares the bytes for equality.
  @inlinable
  public static func == (a: Self, b: Self) -> Bool { a.string.hasSameBytes(as: b.string) }

  /// Orders by bytes.
  public static func < (a: Self, b: Self) -> Bool { a.string.precedesByBytes(b.string) }

  /// Hashes the identifier.
  ///
  /// Equal bytes hash alike.
  public func hash(into hasher: inout Hasher) { hasher.combine(string) }

  package func validate() throws(StoreError) {
    try Identifier.validate("member id", byteCount: byteCount)
  }
}
