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

  /// Returns the text, cut to at most `width` terminal columns; an ellipsis marks a cut.
  package func shortened(to width: Int) -> String {
    guard displayWidth > width else { return self }
    var result = ""
    var remaining = width - 1
    for character in self {
      remaining -= character.displayWidth
      guard remaining >= 0 else { break }
      result.append(character)
    }
    return result + "…"
  }

  /// The number of terminal columns that the text takes.
  package var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }
}

extension Character {
  /// Two for ideographs and emoji, zero for a mark without a base, else one.
  ///
  /// Terminals differ in rare cases, but a table that is off by one there does no harm.
  fileprivate var displayWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if first.isASCII { return 1 }
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{fe0f}") { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return first.isWide ? 2 : 1
    }
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

  /// True for the blocks of East Asian wide and full-width characters.
  fileprivate var isWide: Bool {
    switch value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
      0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
      true
    default: false
    }
  }
}
