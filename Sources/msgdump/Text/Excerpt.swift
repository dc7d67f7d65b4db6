import MsgStoreTools

/// A text with marked parts, made safe for a terminal: a message and the terms found in it.
package struct Excerpt {
  private var pieces: [(text: String, isMarked: Bool)] = []

  package init() {}

  var isEmpty: Bool { pieces.isEmpty }

  /// Appends a text.
  ///
  /// - Parameter ranges: The marked parts: ascending ranges of UTF-8 bytes, of whole characters.
  package mutating func append(_ text: String, marking ranges: [Range<Int>] = []) {
    var rest = text.startIndex
    for range in ranges {
      let start = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
      let end = text.utf8.index(text.startIndex, offsetBy: range.upperBound)
      append(text[rest..<start], isMarked: false)
      append(text[start..<end], isMarked: true)
      rest = end
    }
    append(text[rest...], isMarked: false)
  }

  private mutating func append(_ text: Substring, isMarked: Bool) {
    if !text.isEmpty { pieces.append((String(text).visible, isMarked)) }
  }

  /// Returns the text, cut to at most `width` terminal columns; ellipses mark the cuts.
  ///
  /// The start is cut only if the first marked character has no room otherwise. Then a quarter of
  /// the width comes before it.
  package func shortened(to width: Int) -> Excerpt {
    let all = pieces.flatMap { piece in piece.text.map { (text: $0, isMarked: piece.isMarked) } }
    guard all.reduce(0, { $0 + $1.text.displayWidth }) > width else { return self }
    var start = 0
    if let first = all.firstIndex(where: \.isMarked),
      all[...first].reduce(0, { $0 + $1.text.displayWidth }) >= width
    {
      start = first
      var room = width / 4
      while start > 0, all[start - 1].text.displayWidth <= room {
        start -= 1
        room -= all[start].text.displayWidth
      }
    }
    var result = Excerpt()
    if start > 0 { result.pieces.append(("…", false)) }
    var room = width - (start > 0 ? 1 : 0)
    let isWhole = all[start...].reduce(0) { $0 + $1.text.displayWidth } <= room
    if !isWhole { room -= 1 }
    for (character, isMarked) in all[start...] {
      room -= character.displayWidth
      guard room >= 0 else { break }
      if result.pieces.last?.isMarked != isMarked { result.pieces.append(("", isMarked)) }
      result.pieces[result.pieces.count - 1].text.append(character)
    }
    if !isWhole { result.pieces.append(("…", false)) }
    return result
  }

  /// Returns the text, with the marked parts as `mark` makes them.
  package func text(marking mark: (String) -> String) -> String {
    pieces.map { $0.isMarked ? mark($0.text) : $0.text }.joined()
  }
}
