/// The properties of standard output that the form of a text depends on.
struct Terminal {
  /// The number of columns; nil if it is no terminal, or one that does not say.
  var width: Int?
  /// True if colours may be used.
  var hasColour: Bool

  /// A file or a pipe: nothing is cut, and nothing is coloured.
  static let none = Terminal(width: nil, hasColour: false)

  /// The narrowest terminal that is respected.
  private static let minimumWidth = 40

  /// Returns the terminal that standard output leads to.
  ///
  /// `NO_COLOR` turns colours off if it is set and not empty (https://no-color.org), and so does
  /// the terminal `dumb`.
  static func current() -> Terminal {
    guard System.standardOutputIsTerminal else { return .none }
    let isPlain = !(System.variable("NO_COLOR") ?? "").isEmpty || System.variable("TERM") == "dumb"
    let width = System.standardOutputWidth ?? System.variable("COLUMNS").flatMap { Int($0) }
    return Terminal(width: width.map { max($0, minimumWidth) }, hasColour: !isPlain)
  }

  /// Returns a text in a style, if colours may be used.
  func styled(_ text: String, _ style: Style) -> String {
    hasColour && !text.isEmpty && style != .plain
      ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }
}

/// The look of a line on a terminal; the numbers are those of ECMA-48, section 8.3.117.
enum Style: Int {
  case plain = 0
  /// A heading, or something new.
  case bold = 1
  /// Something beside the content.
  case faint = 2
  /// A match of a search: the colours change places.
  case reversed = 7
  /// A failure or damage.
  case red = 31
  /// Something that is missing.
  case yellow = 33
}
