/// The name of somebody who takes part in conversations.
///
/// 1 to 255 bytes of UTF-8, kept exactly and compared as plain bytes. The limits are checked when it
/// is given to a store, not here.
public struct MemberID: Sendable, Hashable, Comparable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The identifier as text.
  public let string: String

  /// An identifier with this text.
  public init(_ string: String) { self.string = string }

  /// An identifier written in the source.
  public init(stringLiteral value: String) { string = value }

  /// The number of bytes in UTF-8.
  @inlinable public var byteCount: Int { string.utf8.count }

  /// The identifier as text.
  public var description: String { string }

  /// Equality of the bytes.
  @inlinable
  public static func == (a: Self, b: Self) -> Bool { a.string.hasSameBytes(as: b.string) }

  /// Order of the bytes.
  public static func < (a: Self, b: Self) -> Bool { a.string.precedesByBytes(b.string) }

  /// Feeds the identifier to a hasher.
  ///
  /// Equal bytes hash alike.
  public func hash(into hasher: inout Hasher) { hasher.combine(string) }

  package func validate() throws(StoreError) {
    try Identifier.validate("member id", byteCount: byteCount)
  }
}
