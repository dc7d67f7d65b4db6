/// Reads one line of JSON that is an object of plain values, field by field.
struct JSONLine {
  enum Value {
    case string(String)
    case integer(Int64)
    /// A value that no field used by the benchmark can have: a fraction, or a word such as `true`.
    case other
  }

  private let bytes: ArraySlice<UInt8>
  private var index: Int

  /// Returns the fields of the line; nil if the line is not such an object.
  static func fields(of line: ArraySlice<UInt8>) -> [String: Value]? {
    var reader = JSONLine(bytes: line, index: line.startIndex)
    return reader.readObject()
  }

  private mutating func readObject() -> [String: Value]? {
    guard take("{") else { return nil }
    var fields: [String: Value] = [:]
    if take("}") { return isAtEnd ? fields : nil }
    repeat {
      guard let name = readString(), take(":"), let value = readValue() else { return nil }
      fields[name] = value
    } while take(",")
    return take("}") && isAtEnd ? fields : nil
  }

  private mutating func readValue() -> Value? {
    skipSpace()
    guard index < bytes.endIndex else { return nil }
    if bytes[index] == UInt8(ascii: "\"") { return readString().map(Value.string) }
    let start = index
    while index < bytes.endIndex, !",} \t\r".utf8.contains(bytes[index]) { index += 1 }
    guard index > start else { return nil }
    let word = String(decoding: bytes[start..<index], as: UTF8.self)
    return Int64(word).map(Value.integer) ?? .other
  }

  private mutating func readString() -> String? {
    guard take("\"") else { return nil }
    var text: [UInt8] = []
    while index < bytes.endIndex {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"): guard readEscape(into: &text) else { return nil }
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func readEscape(into text: inout [UInt8]) -> Bool {
    guard index < bytes.endIndex else { return false }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "u"):
      guard let scalar = readEscapedScalar() else { return false }
      text.append(contentsOf: String(scalar).utf8)
    default: text.append(byte)
    }
    return true
  }

  /// Reads the code after `\u`; a scalar beyond 16 bits is written as two surrogates.
  private mutating func readEscapedScalar() -> Unicode.Scalar? {
    guard let high = readHexadecimal() else { return nil }
    guard (0xD800..<0xDC00).contains(high) else { return Unicode.Scalar(high) }
    guard take("\\"), take("u"), let low = readHexadecimal(), (0xDC00..<0xE000).contains(low)
    else { return nil }
    return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
  }

  private mutating func readHexadecimal() -> UInt32? {
    guard bytes.endIndex - index >= 4 else { return nil }
    defer { index += 4 }
    return UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard index < bytes.endIndex, bytes[index] == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return index == bytes.endIndex
    }
  }

  private mutating func skipSpace() {
    while index < bytes.endIndex, " \t\r".utf8.contains(bytes[index]) { index += 1 }
  }
}
