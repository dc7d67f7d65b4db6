/// Tells a server whether it has had something before: 128 bits of chance, given when it was entered
/// and the same on every attempt.
///
/// What is entered anew, or changed after it may have left, gets another one.
public struct OutboxToken: Sendable, Hashable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  static let byteCount = 16

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new one.
  package static func random() -> OutboxToken {
    OutboxToken(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }

  /// The token as 32 hexadecimal digits, for a header of a request.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ bits: UInt64) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// A token out of its 32 hexadecimal digits; nil when these are none.
  public init?(_ description: String) {
    let digits = description.utf8
    guard digits.count == 32, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
      let high = UInt64(description.prefix(16), radix: 16),
      let low = UInt64(description.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
