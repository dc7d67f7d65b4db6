/// A token by which a server recognises a repeated request: 128 random bits, assigned when an entry
/// is added and the same on every attempt.
///
/// An entry that is added again, or changed after it may have left, gets a new token.
public struct OutboxToken: Sendable, Hashable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  static let byteCount = 16

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Returns a new random token.
  package static func random() -> OutboxToken {
    OutboxToken(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }

  /// The token as 32 hexadecimal digits, suitable for a request header.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ bits: UInt64) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Creates a token from its 32 hexadecimal digits.
  ///
  /// Returns nil if the text has any other form.
  public init?(_ description: String) {
    let digits = description.utf8
    guard digits.count == 32, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
      let high = UInt64(description.prefix(16), radix: 16),
      let low = UInt64(description.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
