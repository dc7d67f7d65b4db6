import MsgStore

/// The JSON forms of strings, numbers and lists.
extension String: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) { self = try scanner.string() }

  func append(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    // The two bytes before: what is escaped has at most three.
    var last: (UInt8, UInt8) = (0, 0)
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
      case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
      case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
      case 0..<0x20, 0x7f:
        Self.appendEscape(UInt16(byte), to: &bytes)
      case 0x80..<0xa0 where last.1 == 0xc2:
        bytes.removeLast()
        Self.appendEscape(UInt16(byte), to: &bytes)
      case 0xa8...0xae where last == (0xe2, 0x80):
        bytes.removeLast(2)
        Self.appendEscape(0x2000 | UInt16(byte & 0x3f), to: &bytes)
      case 0xa6...0xa9 where last == (0xe2, 0x81):
        bytes.removeLast(2)
        Self.appendEscape(0x2040 | UInt16(byte & 0x3f), to: &bytes)
      default: bytes.append(byte)
      }
      last = (last.1, byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends the escape of a character that would change the terminal that shows it, or the
  /// direction of its line: those of `visible`.
  private static func appendEscape(_ unit: UInt16, to bytes: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    bytes.append(contentsOf: #"\u"#.utf8)
    for shift in [12, 8, 4, 0] { bytes.append(digits[Int(unit >> UInt16(shift)) & 15]) }
  }
}

extension MessageID: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) { self.init(try scanner.string()) }
  func append(to bytes: inout [UInt8]) { string.append(to: &bytes) }
}

extension ConversationID: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) { self.init(try scanner.string()) }
  func append(to bytes: inout [UInt8]) { string.append(to: &bytes) }
}

extension MemberID: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) { self.init(try scanner.string()) }
  func append(to bytes: inout [UInt8]) { string.append(to: &bytes) }
}

extension Bool: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) { self = try scanner.bool() }
  func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: (self ? "true" : "false").utf8) }
}

extension JSONValue where Self: FixedWidthInteger {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let decimal = try scanner.decimal()
    let number: Int64
    do throws(JSONDecimal.Problem) {
      number = try decimal.integer()
    } catch {
      switch error {
      case .notWhole: throw scanner.error("not a whole number", at: place)
      case .outOfRange: throw scanner.error("the number does not fit in 64 bits", at: place)
      }
    }
    guard let exact = Self(exactly: number) else {
      throw scanner.error("the number is too small or too large", at: place)
    }
    self = exact
  }

  func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: String(self).utf8) }
}

extension Int64: JSONValue {}
extension Int32: JSONValue {}
extension UInt32: JSONValue {}

/// Times; those that no store would take are refused.
extension Timestamp: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    self.init(microseconds: try JSONMilliseconds(&scanner).microseconds)
    guard !Self.plausibleRange.contains(self) else { return }
    // A way out for whoever has no other export.
    guard scanner.isLenient else {
      throw scanner.error("\(InputFault.implausibleTime(self))", at: place)
    }
    self = nearestPlausible
  }

  func append(to bytes: inout [UInt8]) { JSONMilliseconds(microseconds).append(to: &bytes) }
}

/// Milliseconds, with up to three digits behind the point if there is a fraction.
struct JSONMilliseconds: JSONValue, Hashable {
  var microseconds: Int64

  init(_ microseconds: Int64) { self.microseconds = microseconds }

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let decimal = try scanner.decimal()
    do throws(JSONDecimal.Problem) {
      self.init(try decimal.integer(timesPowerOfTen: 3))
    } catch {
      switch error {
      case .notWhole: throw scanner.error("time finer than a microsecond", at: place)
      case .outOfRange:
        throw scanner.error("the time in microseconds does not fit in 64 bits", at: place)
      }
    }
  }

  func append(to bytes: inout [UInt8]) {
    let (milliseconds, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
    if microseconds < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(contentsOf: String(milliseconds).utf8)
    guard fraction != 0 else { return }
    // Adding a thousand keeps the leading zeros of the fraction.
    var digits = Array(String(1000 + fraction).utf8.dropFirst())
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    bytes.append(UInt8(ascii: "."))
    bytes.append(contentsOf: digits)
  }
}

extension Array: JSONValue where Element: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    self = []
    try scanner.expect(UInt8(ascii: "["))
    var isFirst = true
    while try scanner.hasNext(before: UInt8(ascii: "]"), isFirst: &isFirst) {
      append(try Element(&scanner))
    }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    for (index, value) in enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      value.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}

/// Bytes, as two hexadecimal digits each.
struct JSONBytes: JSONValue, Hashable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let digits = Array(try scanner.string().utf8)
    bytes = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard index + 1 < digits.count, let high = Self.value(digits[index]),
        let low = Self.value(digits[index + 1])
      else { throw scanner.error("bytes: expected two hexadecimal digits each", at: place) }
      bytes.append(high << 4 | low)
    }
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  func append(to target: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    target.append(UInt8(ascii: "\""))
    for byte in bytes {
      target.append(digits[Int(byte >> 4)])
      target.append(digits[Int(byte & 15)])
    }
    target.append(UInt8(ascii: "\""))
  }
}

/// A value that has a name for each case.
protocol JSONName: JSONValue {
  static var allCases: [Self] { get }
  static var noun: String { get }
  var name: String { get }
}

extension JSONName {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let name = try scanner.string()
    guard let value = Self.allCases.first(where: { $0.name == name }) else {
      throw scanner.error("there is no \(Self.noun) \"\(name)\"", at: place)
    }
    self = value
  }

  func append(to bytes: inout [UInt8]) { name.append(to: &bytes) }
}
