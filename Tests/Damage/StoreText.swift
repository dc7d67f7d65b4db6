package import PageFile

/// Files of a store as text, to be kept beside tests: of each its name and its byte count, then its
/// bytes as hexadecimal digits, in rows with their offsets, without the rows that are zero.
package enum StoreText {
  private static let rowByteCount = 32

  /// What stands in the way of reading a text.
  package struct Malformed: Error {}

  /// The text of those of the files that are there.
  package static func text(of files: MemoryDirectory, _ names: [String]) -> String {
    var text = ""
    for name in names {
      guard let bytes = files[name] else { continue }
      text += "\(name) \(bytes.count)\n"
      for start in stride(from: 0, to: bytes.count, by: rowByteCount) {
        let row = bytes[start..<min(start + rowByteCount, bytes.count)]
        guard row.contains(where: { $0 != 0 }) else { continue }
        text += String(start, radix: 16) + " "
        text += row.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\n"
      }
    }
    return text
  }

  /// The files of a text, whose names all begin with `storeName`.
  package static func files(_ text: String, storeName: String) throws -> MemoryDirectory {
    let files = MemoryDirectory()
    var name = ""
    var bytes: [UInt8] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2 else { throw Malformed() }
      if words[0].hasPrefix(storeName) {
        if !name.isEmpty { files[name] = bytes }
        guard let byteCount = Int(words[1]) else { throw Malformed() }
        name = String(words[0])
        bytes = [UInt8](repeating: 0, count: byteCount)
      } else {
        try put(words[1].utf8, at: Int(words[0], radix: 16), into: &bytes)
      }
    }
    files[name] = bytes
    return files
  }

  private static func put(
    _ digits: Substring.UTF8View, at offset: Int?, into bytes: inout [UInt8]
  ) throws {
    guard let offset, offset + digits.count / 2 <= bytes.count else { throw Malformed() }
    for (index, digit) in digits.enumerated() {
      guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { throw Malformed() }
      bytes[offset + index / 2] |= UInt8(value) << (index % 2 == 0 ? 4 : 0)
    }
  }
}
