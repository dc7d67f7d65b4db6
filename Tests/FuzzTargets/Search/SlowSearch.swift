import Foundation
import MsgStore
import PageFile

/// Search as it is defined: fold everything as a whole, and look whether it contains the terms.
///
/// Normal forms are Foundation's. The fold of a single code point is ours: a checksum of all of them
/// is that of another implementation; see `FoldingTests`.
enum SlowSearch {
  /// Returns the terms of a query: what is between quotes, and what is between white space.
  static func terms(of query: String) -> [[UInt32]] {
    var terms: [[UInt32]] = []
    let parts = fold(query, isLoose: false).split(
      omittingEmptySubsequences: false, whereSeparator: isQuote)
    for (index, part) in parts.enumerated() {
      let pieces = index % 2 == 1 ? [part] : part.split(separator: 0x20)
      for piece in pieces {
        var piece = Array(piece)
        while piece.first == 0x20 { piece.removeFirst() }
        while piece.last == 0x20 { piece.removeLast() }
        if !piece.isEmpty { terms.append(piece) }
      }
    }
    return terms
  }

  private static func isQuote(_ scalar: UInt32) -> Bool {
    [0x22, 0xAB, 0xBB, 0x201C, 0x201D, 0x201E].contains(scalar)
  }

  /// Returns true if a text has all terms, whether or not they cut emoji.
  static func matches(_ terms: [[UInt32]], in text: String, isStrict: Bool) -> Bool {
    let strict = fold(text, isLoose: false)
    let loose = fold(text, isLoose: true)
    for term in terms {
      let isLoose = !isStrict && fold(string(term), isLoose: true) == term
      guard has(term, in: isLoose ? loose : strict) else { return false }
    }
    return true
  }

  private static func has(_ term: [UInt32], in text: [UInt32]) -> Bool {
    for start in text.indices where text[start...].starts(with: term) { return true }
    return false
  }

  static func fold(_ text: String, isLoose: Bool) -> [UInt32] {
    let strict = text.unicodeScalars.map(foldOfOne).joined().precomposedStringWithCanonicalMapping
    guard isLoose else { return spaced(strict) }
    var kept = ""
    var base: UInt32 = 0
    for scalar in string(spaced(strict)).decomposedStringWithCanonicalMapping.unicodeScalars {
      if isDropped(scalar.value, behind: base) { continue }
      kept.unicodeScalars.append(scalar)
      if scalar.properties.canonicalCombiningClass == .notReordered { base = scalar.value }
    }
    return spaced(kept.precomposedStringWithCanonicalMapping)
  }

  private static func foldOfOne(_ scalar: Unicode.Scalar) -> String {
    var folded = FoldedText()
    Bytes.with(Array(String(scalar).utf8)) { folded.fold($0, isLoose: false) }
    return string(folded.scalars)
  }

  private static func isDropped(_ scalar: UInt32, behind base: UInt32) -> Bool {
    switch scalar {
    case 0x591...0x5C7, 0x640, 0x64B...0x65F, 0x670, 0x6D6...0x6ED, 0x1F3FB...0x1F3FF: true
    case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF:
      isLatinOrGreek(base) || base == 0x435 && scalar == 0x308
    default: false
    }
  }

  private static func isLatinOrGreek(_ scalar: UInt32) -> Bool {
    let name = Unicode.Scalar(scalar)?.properties.name ?? ""
    return name.hasPrefix("LATIN ") || name.hasPrefix("GREEK ")
  }

  /// Returns scalars with one space for each run of them.
  private static func spaced(_ text: String) -> [UInt32] {
    var scalars: [UInt32] = []
    for scalar in text.unicodeScalars where scalar != " " || scalars.last != 0x20 {
      scalars.append(scalar.value)
    }
    return scalars
  }

  private static func string(_ scalars: [UInt32]) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars.compactMap { Unicode.Scalar($0) })
    return text
  }
}
