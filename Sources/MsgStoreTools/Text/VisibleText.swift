/// Text from other people, made safe for a terminal.
extension String {
  /// The text with all characters escaped that would move the cursor, change the terminal, or
  /// reverse the direction of the line.
  ///
  /// A message must not be able to draw outside its line, or to disguise itself as something else.
  package var visible: String {
    guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.isUnprintable: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// True for control characters, line separators, and marks that change the direction of a line.
  ///
  /// A zero-width joiner is part of many emoji and stays.
  fileprivate var isUnprintable: Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
