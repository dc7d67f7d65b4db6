import PageFile

/// The properties of code points that folding needs, decoded from `FoldingData` at the first use.
///
/// Takes some 120 KiB. Most code points are *inert*: they fold to themselves and join no neighbour.
struct FoldingTable: Sendable {
  static let shared = FoldingTable()

  /// The properties of a code point that is not inert.
  struct Entry: Sendable {
    /// The canonical combining class; 0 for a starter.
    var combiningClass: UInt8 = 0
    /// True if the code point, although a starter, may compose with what precedes it.
    var joinsPrevious = false
    /// True if the code point folds to itself.
    var isOwnFold = true
    var targetCount: UInt8 = 0
    var targetOffset: UInt32 = 0
    var mark = Mark.none
    var ascii = HiddenASCII()
  }

  /// The kinds of scalars that the loose fold may drop.
  enum Mark {
    case none
    /// A mark of Latin and Greek letters, dropped behind these.
    case accent
    /// A Hebrew point, a tatweel, an Arabic mark, or a skin tone.
    case other
  }

  private static let accents: [ClosedRange<UInt32>] = [
    0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF,
  ]
  private static let otherMarks: [ClosedRange<UInt32>] = [
    0x591...0x5C7, 0x640...0x640, 0x64B...0x65F, 0x670...0x670, 0x6D6...0x6ED, 0x1F3FB...0x1F3FF,
  ]

  /// The code points in one page of `indices`.
  private static let pageCount = 128

  /// The number of the page of 128 code points.
  private var pages = [UInt16](repeating: 0, count: 0x11_0000 / Self.pageCount)
  /// The index of each code point of a page among the entries; 0 if it is inert.
  private var indices = [UInt16](repeating: 0, count: Self.pageCount)
  private(set) var entries = [Entry()]
  /// The folds of code points, taken apart canonically.
  private(set) var targets: [UInt32] = []
  private var compositions: [UInt64: UInt32] = [:]
  private var latinAndGreek: [(first: UInt32, count: UInt32)] = []

  private init() {
    var numbers = FoldingNumbers(FoldingData.numbers)
    for _ in 0..<numbers.rowCount() {
      let (first, count, step) = (numbers.next(0), numbers.next(1), numbers.next(2))
      let (target, targetStep) = (numbers.next(3), numbers.next(4))
      for index in 0..<count { setTargets(of: first + index * step, [target + index * targetStep]) }
    }
    for _ in 0..<numbers.rowCount() { setTargets(of: numbers.next(0), [numbers.next(1)]) }
    for _ in 0..<numbers.rowCount() {
      let (code, count) = (numbers.next(0), numbers.next(1))
      setTargets(of: code, (0..<count).map { _ in numbers.next(2) })
    }
    for _ in 0..<numbers.rowCount() {
      let (first, count) = (numbers.next(0), numbers.next(1))
      for code in first..<first + count { setTargets(of: code, []) }
    }
    for _ in 0..<numbers.rowCount() {
      let (first, count) = (numbers.next(0), numbers.next(1))
      let combiningClass = UInt8(truncatingIfNeeded: numbers.next(2))
      for code in first..<first + count {
        change(code) { $0.combiningClass = combiningClass }
      }
    }
    for _ in 0..<numbers.rowCount() {
      let (first, second, whole) = (numbers.next(0), numbers.next(1), numbers.next(2))
      compositions[UInt64(first) << 32 | UInt64(second)] = whole
      change(second) { $0.joinsPrevious = true }
    }
    for code in Hangul.vowels { change(code) { $0.joinsPrevious = true } }
    for code in Hangul.trailing { change(code) { $0.joinsPrevious = true } }
    for _ in 0..<numbers.rowCount() { latinAndGreek.append((numbers.next(0), numbers.next(1))) }
    setMark(.accent, in: Self.accents)
    setMark(.other, in: Self.otherMarks)
    for index in entries.indices where isDroppedAsAWhole(entries[index]) {
      entries[index].ascii.insert(.gaps)
    }
    // White space that is its own fold is a space to a search.
    for code: UInt32 in [0x85, 0x1680, 0x2028, 0x2029] { change(code) { $0.ascii.insert(.signs) } }
  }

  /// Returns true if all that a scalar folds to may be dropped.
  private func isDroppedAsAWhole(_ entry: Entry) -> Bool {
    guard !entry.isOwnFold else { return false }
    let start = Int(entry.targetOffset)
    return targets[start..<start + Int(entry.targetCount)].allSatisfy {
      entries[self.index(of: $0)].mark != .none
    }
  }

  private mutating func setMark(_ mark: Mark, in ranges: [ClosedRange<UInt32>]) {
    for code in ranges.joined() {
      change(code) {
        $0.mark = mark
        $0.ascii.insert(.gaps)
      }
    }
  }

  private mutating func setTargets(of code: UInt32, _ folded: [UInt32]) {
    let offset = UInt32(targets.count)
    targets += folded
    change(code) {
      $0.isOwnFold = false
      $0.targetCount = UInt8(folded.count)
      $0.targetOffset = offset
      $0.ascii.formUnion(HiddenASCII(folded))
    }
  }

  private mutating func change(_ code: UInt32, _ body: (inout Entry) -> Void) {
    let page = Int(code) / Self.pageCount
    if pages[page] == 0 {
      pages[page] = UInt16(indices.count / Self.pageCount)
      indices.append(contentsOf: repeatElement(0, count: Self.pageCount))
    }
    let place = Int(pages[page]) * Self.pageCount + Int(code) % Self.pageCount
    if indices[place] == 0 {
      indices[place] = UInt16(entries.count)
      entries.append(Entry())
    }
    body(&entries[Int(indices[place])])
  }

  /// Returns the index of a code point among the entries, or 0 if it is inert.
  @inline(__always)
  func index(of code: UInt32) -> Int {
    guard code < 0x11_0000 else { return 0 }
    let page = Int(pages[Int(code &>> 7)])
    return page == 0 ? 0 : Int(indices[page &* Self.pageCount &+ Int(code & 127)])
  }

  /// Returns the kinds of ASCII that texts within some bytes may hide.
  func hiddenASCII(in text: Bytes) -> HiddenASCII {
    var hidden = HiddenASCII()
    var offset = 0
    while offset < text.count {
      offset += text.asciiByteCount(from: offset)
      while offset < text.count, text[offset] >= 0x80 {
        let (scalar, byteCount) = text.scalar(at: offset)
        hidden.formUnion(entries[index(of: scalar)].ascii)
        offset &+= byteCount
      }
    }
    return hidden
  }

  /// Returns the code point that two others compose to, or nil.
  func composition(of first: UInt32, _ second: UInt32) -> UInt32? {
    Hangul.composition(of: first, second) ?? compositions[UInt64(first) << 32 | UInt64(second)]
  }

  func isLatinOrGreek(_ code: UInt32) -> Bool {
    var (low, high) = (0, latinAndGreek.count)
    while low < high {
      let middle = (low + high) / 2
      let range = latinAndGreek[middle]
      if code < range.first {
        high = middle
      } else if code - range.first >= range.count {
        low = middle + 1
      } else {
        return true
      }
    }
    return false
  }
}

/// Composes Hangul syllables (the Unicode Standard, 3.12).
enum Hangul {
  static let leading: Range<UInt32> = 0x1100..<0x1113
  static let vowels: Range<UInt32> = 0x1161..<0x1176
  static let trailing: Range<UInt32> = 0x11A8..<0x11C3
  private static let syllables: Range<UInt32> = 0xAC00..<0xD7A4
  /// The forms of a syllable without and with each trailing consonant.
  private static let formCount: UInt32 = 28

  static func composition(of first: UInt32, _ second: UInt32) -> UInt32? {
    if leading.contains(first), vowels.contains(second) {
      let index =
        (first - leading.lowerBound) * UInt32(vowels.count) + (second - vowels.lowerBound)
      return syllables.lowerBound + index * formCount
    }
    if syllables.contains(first), (first - syllables.lowerBound) % formCount == 0,
      trailing.contains(second)
    {
      return first + (second - trailing.lowerBound) + 1
    }
    return nil
  }
}

/// The numbers of `FoldingData`.
@safe
private struct FoldingNumbers {
  private let text: UnsafeBufferPointer<UInt8>
  private var offset = 0
  /// The number read last in each column.
  private var above = [Int](repeating: 0, count: 5)

  init(_ text: StaticString) {
    // Unsafe: a static string lives as long as the process.
    unsafe self.text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// Begins a section, and returns the number of its rows.
  mutating func rowCount() -> UInt32 {
    for column in above.indices { above[column] = 0 }
    return UInt32(truncatingIfNeeded: difference())
  }

  /// Returns the next number, which is in a column.
  mutating func next(_ column: Int) -> UInt32 {
    above[column] += difference()
    return UInt32(truncatingIfNeeded: above[column])
  }

  /// Returns the next number as it is written; 0 at the end.
  private mutating func difference() -> Int {
    var number = 0
    var shift = 0
    while unsafe offset < text.count {
      let digit = unsafe Self.value(of: text[offset])
      offset += 1
      guard let digit else { continue }
      number |= (digit & 31) << shift
      shift += 5
      if digit < 32 { break }
    }
    return number & 1 == 0 ? number >> 1 : -(number >> 1)
  }

  /// Returns the value of a digit of Base64; nil for white space.
  private static func value(of character: UInt8) -> Int? {
    switch character {
    case 0x41...0x5A: Int(character) - 0x41
    case 0x61...0x7A: Int(character) - 0x61 + 26
    case 0x30...0x39: Int(character) - 0x30 + 52
    case 0x2B: 62
    case 0x2F: 63
    default: nil
    }
  }
}
