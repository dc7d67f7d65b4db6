import PageFile

/// One term of a query: a run of folded scalars.
struct SearchTerm: Sendable, Hashable {
  let scalars: [UInt32]
  /// True if the term loses nothing by the loose fold, and so matches loosely.
  let isLoose: Bool
  /// The term if all of it is ASCII, for texts that are.
  let ascii: ASCIITerm?

  private init(_ scalars: [UInt32], isStrict: Bool) {
    self.scalars = scalars
    var loose = FoldedText()
    loose.fold(scalars, isLoose: true)
    isLoose = !isStrict && loose.scalars == scalars
    let isASCII = scalars.allSatisfy { $0 < 0x80 }
    ascii = isASCII ? ASCIITerm(scalars.map { UInt8(truncatingIfNeeded: $0) }) : nil
  }

  private static let quotes: Set<UInt32> = [0x22, 0xAB, 0xBB, 0x201C, 0x201D, 0x201E]

  /// Splits a text into its terms, without any twice.
  static func terms(of text: String, isStrict: Bool) -> [SearchTerm] {
    var folded = FoldedText()
    Bytes.with(Array(text.utf8)) { folded.fold($0, isLoose: false) }
    var runs: [[UInt32]] = []
    var run: [UInt32] = []
    var isQuoted = false
    func end() {
      if run.last == 0x20 { run.removeLast() }
      if !run.isEmpty, !runs.contains(run) { runs.append(run) }
      run = []
    }
    for scalar in folded.scalars {
      if quotes.contains(scalar) {
        isQuoted.toggle()
        end()
      } else if scalar != 0x20 {
        run.append(scalar)
      } else if !isQuoted {
        end()
      } else if !run.isEmpty {
        run.append(scalar)
      }
    }
    end()
    return runs.map { SearchTerm($0, isStrict: isStrict) }
  }

  /// Returns the indices of the folded scalars at which the term occurs, from an index on.
  func next(in text: FoldedText, from start: Int) -> Range<Int>? {
    let count = scalars.count
    guard text.scalars.count >= count else { return nil }
    let first = scalars[0]
    var index = start
    while index <= text.scalars.count - count {
      if text.scalars[index] == first {
        var length = 1
        while length < count, text.scalars[index + length] == scalars[length] { length += 1 }
        if length == count { return index..<index + count }
      }
      index += 1
    }
    return nil
  }
}
