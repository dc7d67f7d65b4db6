/// The web addresses in a text.
package enum LinkFinder {
  /// A part of a text.
  package enum Part: Hashable, Sendable {
    case text(String)
    /// An address that begins with `http://` or `https://`.
    case link(String)
  }

  /// Returns the text in parts, which make up the whole text again.
  ///
  /// An address reaches to the next blank, quotation mark, or angle bracket; marks that end a
  /// sentence do not belong to it, nor does a bracket that it does not open itself.
  package static func parts(of text: String) -> [Part] {
    let bytes = text.utf8
    var parts: [Part] = []
    var begin = bytes.startIndex
    var index = bytes.startIndex
    var isInWord = false
    while index < bytes.endIndex {
      if !isInWord, lowercase(bytes[index]) == UInt8(ascii: "h"),
        let host = hostStart(of: text[index...])
      {
        let end = end(of: text[index...], host: host)
        if end > host {
          if begin < index { parts.append(.text(String(text[begin..<index]))) }
          parts.append(.link(String(text[index..<end])))
          begin = end
          index = end
          isInWord = true
          continue
        }
      }
      isInWord = isWordByte(bytes[index])
      bytes.formIndex(after: &index)
    }
    if begin < bytes.endIndex { parts.append(.text(String(text[begin...]))) }
    return parts
  }

  /// Returns the index behind the scheme if the text begins with one.
  private static func hostStart(of text: Substring) -> String.Index? {
    for scheme in ["http://", "https://"] {
      let start = text.utf8.prefix(scheme.utf8.count)
      guard start.count == scheme.utf8.count,
        zip(start, scheme.utf8).allSatisfy({ lowercase($0) == $1 })
      else { continue }
      return start.endIndex
    }
    return nil
  }

  private static func end(of text: Substring, host: String.Index) -> String.Index {
    let scalars = text.unicodeScalars
    var end = host
    while end < text.endIndex, !endsLink(scalars[end]) { scalars.formIndex(after: &end) }
    // A bracket is looked for once, so that a text of brackets takes no time beyond its length.
    let opens = text[host..<end].unicodeScalars.contains("(")
    while end > host {
      let last = scalars.index(before: end)
      let belongs =
        switch scalars[last] {
        case ".", ",", ";", ":", "!", "?", "'", "]", "}", "*", "_": false
        case ")": opens
        default: true
        }
      if belongs { break }
      end = last
    }
    return end
  }

  private static func endsLink(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "<", ">", "\"", "`", "\\", "^", "{", "|", "}": true
    default:
      scalar.value <= 0x20 || (0x7F..<0xA1).contains(scalar.value)
        || scalar.properties.isWhitespace || scalar.properties.isBidiControl
    }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch lowercase(byte) {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}
