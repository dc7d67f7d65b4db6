import PageFile

/// Scans the values of one line of JSON from untrusted bytes.
///
/// It is as strict as RFC 8259: nothing is repaired or guessed. Every error names the byte of the
/// line at which it arose. No bytes make it trap.
struct JSONScanner {
  /// The limit on the nesting of values.
  private static let maximumDepth = 64

  private let bytes: [UInt8]
  private let line: Range<Int>
  let lineNumber: Int
  /// True if unknown fields are skipped, and the last of two fields with one name counts.
  let isLenient: Bool
  let passedOver: PassedOver
  /// The names of unknown fields of messages that are kept as the client's own.
  let ownFields: Set<String>
  /// The offset of the next byte.
  private(set) var offset: Int

  /// Creates a scanner of `line`, a range of `bytes`.
  init(
    _ bytes: [UInt8], line: Range<Int>, lineNumber: Int, isLenient: Bool,
    passedOver: PassedOver = PassedOver(), ownFields: Set<String> = []
  ) {
    precondition(line.upperBound <= bytes.count, "line: out of bounds")
    self.bytes = bytes
    self.line = line
    self.lineNumber = lineNumber
    self.isLenient = isLenient
    self.passedOver = passedOver
    self.ownFields = ownFields
    offset = line.lowerBound
  }

  /// Returns the bytes of the next value: those of a string without its quotes and escapes, and of
  /// any other value as they stand in the line.
  mutating func valueBytes() throws(StoreToolError) -> [UInt8] {
    if peek() == UInt8(ascii: "\"") { return Array(try string().utf8) }
    let start = offset
    try skipValue()
    return Array(bytes[start..<offset])
  }

  // MARK: Structure

  /// Returns the next byte that is not a blank; nil at the end of the line.
  mutating func peek() -> UInt8? {
    while offset < line.upperBound {
      switch bytes[offset] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): offset += 1
      case let byte: return byte
      }
    }
    return nil
  }

  /// Skips a byte if it is the next one.
  mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    offset += 1
    return true
  }

  /// Skips a byte that must be the next one.
  mutating func expect(_ byte: UInt8) throws(StoreToolError) {
    guard take(byte) else { throw unexpected("'\(Character(Unicode.Scalar(byte)))'") }
  }

  /// Returns true if an object or an array that ends with `closing` has another element.
  ///
  /// The first element has no comma before it.
  mutating func hasNext(before closing: UInt8, isFirst: inout Bool) throws(StoreToolError) -> Bool {
    if take(closing) { return false }
    if isFirst {
      isFirst = false
    } else {
      try expect(UInt8(ascii: ","))
      if peek() == closing { throw unexpected("a value") }
    }
    return true
  }

  /// Skips `null` if it is the next value.
  mutating func takeNull() throws(StoreToolError) -> Bool {
    guard peek() == UInt8(ascii: "n") else { return false }
    try expect(word: "null")
    return true
  }

  /// Checks that the line ends here.
  mutating func expectEnd() throws(StoreToolError) {
    if peek() != nil { throw unexpected("the end of the line") }
  }

  private mutating func expect(word: String) throws(StoreToolError) {
    let begin = offset
    var isEqual = true
    for byte in word.utf8 {
      isEqual = isEqual && offset < line.upperBound && bytes[offset] == byte
      offset += 1
    }
    guard isEqual else {
      offset = begin
      throw unexpected("'\(word)'")
    }
  }

  // MARK: Strings

  /// Reads a string.
  mutating func string() throws(StoreToolError) -> String {
    guard peek() == UInt8(ascii: "\"") else { throw unexpected("a string") }
    offset += 1
    let begin = offset
    while offset < line.upperBound {
      switch bytes[offset] {
      case UInt8(ascii: "\""):
        let string = try text(begin..<offset)
        offset += 1
        return string
      case UInt8(ascii: "\\"): return try stringWithEscapes(from: begin)
      case 0..<0x20: throw error("unescaped control character in a string")
      default: offset += 1
      }
    }
    throw error("unterminated string")
  }

  /// Reads a string with escapes, which are rare: the part before the first escape is copied, then
  /// the rest.
  private mutating func stringWithEscapes(from begin: Int) throws(StoreToolError) -> String {
    var string = try text(begin..<offset)
    var runBegin = offset
    while offset < line.upperBound {
      switch bytes[offset] {
      case UInt8(ascii: "\""):
        string += try text(runBegin..<offset)
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        string += try text(runBegin..<offset)
        string.unicodeScalars.append(try escape())
        runBegin = offset
      case 0..<0x20: throw error("unescaped control character in a string")
      default: offset += 1
      }
    }
    throw error("unterminated string")
  }

  /// Returns the bytes as text, if they are UTF-8.
  private func text(_ range: Range<Int>) throws(StoreToolError) -> String {
    if let text = String(validating: bytes[range], as: UTF8.self) { return text }
    let validByteCount = Bytes.with(Array(bytes[range])) { $0.validUTF8ByteCount }
    throw error("not valid UTF-8", at: range.lowerBound + validByteCount)
  }

  private mutating func escape() throws(StoreToolError) -> Unicode.Scalar {
    let begin = offset
    offset += 1
    guard offset < line.upperBound else { throw error("unterminated string") }
    let letter = bytes[offset]
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedScalar(from: begin)
    default: throw error("unknown escape", at: begin)
    }
  }

  /// Reads the code after `\u`: one unit of UTF-16, or a surrogate pair.
  private mutating func escapedScalar(from begin: Int) throws(StoreToolError) -> Unicode.Scalar {
    let first = try hexDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xdc00, offset + 1 < line.upperBound, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    else { throw error("unpaired surrogate", at: begin) }
    offset += 2
    let second = try hexDigits()
    guard (0xdc00...0xdfff).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else { throw error("unpaired surrogate", at: begin) }
    return scalar
  }

  private mutating func hexDigits() throws(StoreToolError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard offset < line.upperBound,
        let digit = Character(Unicode.Scalar(bytes[offset])).hexDigitValue, bytes[offset] < 0x80
      else { throw error("expected four hexadecimal digits after \\u") }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }

  // MARK: Numbers

  /// Reads a number, exactly as written.
  mutating func decimal() throws(StoreToolError) -> JSONDecimal {
    _ = peek()
    var decimal = JSONDecimal()
    let begin = offset
    decimal.isNegative = takeDigitSign(UInt8(ascii: "-"))
    let hasLeadingZero = nextByte == UInt8(ascii: "0")
    let integerDigitCount = takeDigits { decimal.append($0) }
    guard integerDigitCount > 0 else {
      offset = begin
      throw unexpected("a number")
    }
    if hasLeadingZero && integerDigitCount > 1 {
      throw error("number with a leading zero", at: begin)
    }
    if takeDigitSign(UInt8(ascii: ".")) {
      let digitCount = takeDigits { decimal.append(fractionDigit: $0) }
      if digitCount == 0 { throw error("expected a digit after the point") }
    }
    if takeDigitSign(UInt8(ascii: "e")) || takeDigitSign(UInt8(ascii: "E")) {
      let isNegative = takeDigitSign(UInt8(ascii: "-"))
      if !isNegative { _ = takeDigitSign(UInt8(ascii: "+")) }
      var exponent = 0
      let digitCount = takeDigits { exponent = min(exponent * 10 + Int($0), 1_000_000_000) }
      if digitCount == 0 { throw error("expected a digit in the exponent") }
      decimal.multiply(byPowerOfTen: isNegative ? -exponent : exponent)
    }
    return decimal
  }

  private var nextByte: UInt8? { offset < line.upperBound ? bytes[offset] : nil }

  private mutating func takeDigitSign(_ byte: UInt8) -> Bool {
    guard nextByte == byte else { return false }
    offset += 1
    return true
  }

  private mutating func takeDigits(_ body: (UInt8) -> Void) -> Int {
    let begin = offset
    while let byte = nextByte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      body(byte - UInt8(ascii: "0"))
      offset += 1
    }
    return offset - begin
  }

  // MARK: Truth

  /// Reads `true` or `false`.
  mutating func bool() throws(StoreToolError) -> Bool {
    switch peek() {
    case UInt8(ascii: "t"):
      try expect(word: "true")
      return true
    case UInt8(ascii: "f"):
      try expect(word: "false")
      return false
    default: throw unexpected("true or false")
    }
  }

  // MARK: The rest

  /// Continues at an offset obtained from `mark` or `offset`.
  mutating func seek(_ offset: Int) { self.offset = offset }

  /// Skips a value without validating it; a caller that wants it comes back and reads it.
  mutating func passValue() throws(StoreToolError) {
    var depth = 0
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""): try passString()
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        offset += 1
        depth += 1
        guard depth < Self.maximumDepth else { throw error("values nested too deeply") }
        continue
      case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: ":"):
        // With nothing open, this byte ends the value.
        guard depth > 0 else { return }
        offset += 1
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth -= 1 }
      default: passWord()
      }
      if depth == 0 { return }
    }
  }

  private mutating func passString() throws(StoreToolError) {
    offset += 1
    while offset < line.upperBound {
      switch bytes[offset] {
      case UInt8(ascii: "\""):
        offset += 1
        return
      case UInt8(ascii: "\\"): offset += 2
      default: offset += 1
      }
    }
    offset = line.upperBound
    throw error("unterminated string")
  }

  /// Skips a number, or whatever is in its place.
  private mutating func passWord() {
    while let byte = nextByte {
      switch byte {
      case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: " "),
        UInt8(ascii: "\t"), UInt8(ascii: "\r"):
        return
      default: offset += 1
      }
    }
  }

  /// Skips a value of any kind, which must be well formed.
  mutating func skipValue(depth: Int = 0) throws(StoreToolError) {
    guard depth < Self.maximumDepth else { throw error("values nested too deeply") }
    var isFirst = true
    switch peek() {
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "t"): try expect(word: "true")
    case UInt8(ascii: "f"): try expect(word: "false")
    case UInt8(ascii: "n"): try expect(word: "null")
    case UInt8(ascii: "["):
      offset += 1
      while try hasNext(before: UInt8(ascii: "]"), isFirst: &isFirst) {
        try skipValue(depth: depth + 1)
      }
    case UInt8(ascii: "{"):
      offset += 1
      while try hasNext(before: UInt8(ascii: "}"), isFirst: &isFirst) {
        _ = try string()
        try expect(UInt8(ascii: ":"))
        try skipValue(depth: depth + 1)
      }
    default: _ = try decimal()
    }
  }

  /// Returns the offset of the next value, to be passed to `error`.
  mutating func mark() -> Int {
    _ = peek()
    return offset
  }

  /// Returns an error at the current byte, or at an offset obtained from `mark`.
  func error(_ reason: String, at place: Int? = nil) -> StoreToolError {
    let column = min(place ?? offset, line.upperBound) - line.lowerBound + 1
    return .malformedLine(line: lineNumber, column: column, reason: reason)
  }

  mutating func unexpected(_ wanted: String) -> StoreToolError {
    peek() == nil
      ? error("the line ends, expected \(wanted)") : error("expected \(wanted)")
  }
}
