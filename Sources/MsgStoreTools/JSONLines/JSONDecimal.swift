/// A decimal number exactly as written: magnitude × 10^(zeroCount + scale).
///
/// Times and sequence numbers have up to 19 digits, while a `Double` keeps 15. The magnitude never
/// ends with a zero, so the exponent tells whether the number is whole.
struct JSONDecimal {
  /// The reason why a number is not the required integer.
  enum Problem: Error {
    case notWhole
    case outOfRange
  }

  var isNegative = false
  private var magnitude: UInt64 = 0
  /// The number of trailing zeros among the digits.
  private var zeroCount = 0
  private var scale = 0
  /// True if there are more digits than the magnitude holds; no number that we read has as many.
  private var hasOverflowed = false

  /// Appends a digit before the point.
  mutating func append(_ digit: UInt8) {
    guard digit != 0 else {
      zeroCount += 1
      return
    }
    let places = magnitude == 0 ? 0 : zeroCount + 1
    let (product, overflow) = magnitude.multipliedReportingOverflow(by: Self.powerOfTen(places))
    let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
    hasOverflowed = hasOverflowed || overflow || carry || places > 19
    magnitude = sum
    zeroCount = 0
  }

  /// Appends a digit behind the point.
  mutating func append(fractionDigit digit: UInt8) {
    append(digit)
    scale -= 1
  }

  /// Multiplies by a power of ten.
  mutating func multiply(byPowerOfTen power: Int) {
    scale += power
  }

  /// Returns the number × 10^`power`, if that is a whole number of 64 bits.
  func integer(timesPowerOfTen power: Int = 0) throws(Problem) -> Int64 {
    if hasOverflowed { throw .outOfRange }
    if magnitude == 0 { return 0 }
    let places = zeroCount + scale + power
    if places < 0 { throw .notWhole }
    if places > 19 { throw .outOfRange }
    let (product, overflow) = magnitude.multipliedReportingOverflow(by: Self.powerOfTen(places))
    let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
    guard !overflow, product <= limit else { throw .outOfRange }
    return isNegative ? Int64(truncatingIfNeeded: 0 &- product) : Int64(product)
  }

  /// Returns 10^`power`, limited to 10^19, the largest power that fits in 64 bits.
  private static func powerOfTen(_ power: Int) -> UInt64 {
    var result: UInt64 = 1
    for _ in 0..<min(power, 19) { result *= 10 }
    return result
  }
}
