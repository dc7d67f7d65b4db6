/// The width of text in the columns of a terminal.
extension String {
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
  var displayWidth: Int {
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
