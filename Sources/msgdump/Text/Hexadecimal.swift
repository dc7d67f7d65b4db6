extension [UInt8] {
  /// The bytes in hexadecimal digits.
  var hexadecimal: String { map(\.hexadecimal).joined() }

  /// The bytes as lines of sixteen: offset, digits, and ASCII characters.
  var hexadecimalLines: [String] {
    stride(from: 0, to: count, by: 16).map { start in
      let line = self[start..<Swift.min(start + 16, count)]
      let offset = String(start, radix: 16)
      let zeros = String(repeating: "0", count: Swift.max(0, 6 - offset.utf8.count))
      let digits = line.map(\.hexadecimal).joined(separator: " ")
      let blanks = String(repeating: " ", count: 16 * 3 - digits.utf8.count)
      let characters = line.map { byte in
        (0x20..<0x7F).contains(byte) ? String(Unicode.Scalar(byte)) : "."
      }
      return zeros + offset + "  " + digits + blanks + " " + characters.joined()
    }
  }
}

extension UInt8 {
  fileprivate var hexadecimal: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}
