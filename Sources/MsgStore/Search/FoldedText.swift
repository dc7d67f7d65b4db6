package import PageFile

/// A text as search compares it, and where each of its scalars comes from.
///
/// The *strict* fold is NFKC_Casefold of each code point, then NFC (the Unicode Standard, 3.13,
/// R5), with one space for each run of white space. The *loose* fold also drops marks that people
/// leave out when they search: those on Latin and Greek letters, Arabic and Hebrew vowels, the
/// tatweel, skin tones, and the dots of ё. No locale takes part.
///
/// Any bytes may be given; what is not UTF-8 becomes U+FFFD. Reused from text to text.
package struct FoldedText {
  /// The folded scalars.
  package private(set) var scalars: [UInt32] = []
  /// For each scalar, the offset of the source scalar that it comes from.
  private(set) var offsets: [Int32] = []
  private let table = FoldingTable.shared
  private var isLoose = false
  /// A starter that is not in the output yet.
  private var head: Part?
  /// The scalars behind it that may compose with it.
  private var cluster: [Part] = []
  /// The last starter that was not dropped.
  private var base: UInt32 = 0

  private struct Part {
    var scalar: UInt32
    var combiningClass: UInt8
    var offset: Int32
  }

  package init() {}

  /// Folds a text; the scalars before are removed.
  package mutating func fold(_ text: Bytes, isLoose: Bool) {
    begin(isLoose: isLoose)
    var offset = 0
    while offset < text.count {
      let byte = text[offset]
      if byte < 0x80 {
        addASCII(byte, at: offset)
        offset += 1
      } else {
        let (scalar, byteCount) = text.scalar(at: offset)
        add(scalar, at: offset)
        offset += byteCount
      }
    }
    flush()
  }

  /// Folds scalars; those before are removed.
  mutating func fold(_ source: [UInt32], isLoose: Bool) {
    begin(isLoose: isLoose)
    for (index, scalar) in source.enumerated() { add(scalar, at: index) }
    flush()
  }

  private mutating func begin(isLoose: Bool) {
    scalars.removeAll(keepingCapacity: true)
    offsets.removeAll(keepingCapacity: true)
    self.isLoose = isLoose
    base = 0
  }

  @inline(__always)
  private mutating func addASCII(_ byte: UInt8, at offset: Int) {
    let isCapital = byte &- 0x41 < 26
    startCluster(UInt32(isCapital ? byte | 0x20 : byte), at: offset)
  }

  @inline(__always)
  private mutating func add(_ scalar: UInt32, at offset: Int) {
    let index = table.index(of: scalar)
    if index == 0 { return startCluster(scalar, at: offset) }
    let entry = table.entries[index]
    if entry.isOwnFold { return addFolded(scalar, entry, at: offset) }
    for place in 0..<Int(entry.targetCount) {
      let target = table.targets[Int(entry.targetOffset) + place]
      addFolded(target, table.entries[table.index(of: target)], at: offset)
    }
  }

  /// Adds a scalar that is its own fold and not composed.
  private mutating func addFolded(_ scalar: UInt32, _ entry: FoldingTable.Entry, at offset: Int) {
    if isLoose, isDropped(scalar, entry.mark) { return }
    if entry.combiningClass == 0 {
      if !entry.joinsPrevious { return startCluster(scalar, at: offset) }
      base = scalar
    }
    let part = Part(
      scalar: scalar, combiningClass: entry.combiningClass,
      offset: Int32(truncatingIfNeeded: offset))
    if head == nil { head = part } else { cluster.append(part) }
  }

  @inline(__always)
  private mutating func startCluster(_ scalar: UInt32, at offset: Int) {
    flush()
    head = Part(
      scalar: scalar, combiningClass: 0, offset: Int32(truncatingIfNeeded: offset))
    base = scalar
  }

  private func isDropped(_ scalar: UInt32, _ kind: FoldingTable.Mark) -> Bool {
    switch kind {
    case .none: false
    // The dots of ё are all that is dropped from a Cyrillic letter.
    case .accent: table.isLatinOrGreek(base) || base == 0x435 && scalar == 0x308
    case .other: true
    }
  }

  // MARK: Composing

  @inline(__always)
  private mutating func flush() {
    guard let head else { return }
    if cluster.isEmpty { emit(head) } else { compose(head) }
    self.head = nil
  }

  /// Brings the marks of the cluster into canonical order, composes, and emits the result.
  @inline(never)
  private mutating func compose(_ head: Part) {
    cluster.insert(head, at: 0)
    defer { cluster.removeAll(keepingCapacity: true) }
    sortMarks()
    // In place: what is composed only gets shorter.
    var count = 0
    var starter: Int?
    for index in 0..<cluster.count {
      let part = cluster[index]
      if let starter {
        let last = cluster[count - 1].combiningClass
        let isBlocked = count - 1 > starter && last >= part.combiningClass
        if !isBlocked, let whole = table.composition(of: cluster[starter].scalar, part.scalar) {
          cluster[starter].scalar = whole
          continue
        }
      }
      if part.combiningClass == 0 { starter = count }
      cluster[count] = part
      count += 1
    }
    for index in 0..<count { emit(cluster[index]) }
  }

  /// Brings the marks between two starters into the order of their classes.
  private mutating func sortMarks() {
    var start = 0
    while start < cluster.count {
      let end = cluster[start...].firstIndex { $0.combiningClass == 0 } ?? cluster.count
      if end - start > 1 { sortMarks(start..<end) }
      start = end + 1
    }
  }

  /// Sorts by counting, since a text may have any number of marks on one letter.
  private mutating func sortMarks(_ range: Range<Int>) {
    let isSorted = range.dropFirst().allSatisfy {
      cluster[$0 - 1].combiningClass <= cluster[$0].combiningClass
    }
    if isSorted { return }
    let marks = Array(cluster[range])
    var places = [Int](repeating: 0, count: 257)
    for mark in marks { places[Int(mark.combiningClass) + 1] += 1 }
    for index in 1..<places.count { places[index] += places[index - 1] }
    for mark in marks {
      cluster[range.lowerBound + places[Int(mark.combiningClass)]] = mark
      places[Int(mark.combiningClass)] += 1
    }
  }

  @inline(__always)
  private mutating func emit(_ part: Part) {
    var scalar = part.scalar
    if FoldedText.isWhiteSpace(scalar) {
      if scalars.last == 0x20 { return }
      scalar = 0x20
    }
    scalars.append(scalar)
    offsets.append(part.offset)
  }

  @inline(__always)
  static func isWhiteSpace(_ scalar: UInt32) -> Bool {
    if scalar > 0x20, scalar < 0x85 { return false }
    return switch scalar {
    case 9...13, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
      true
    default: false
    }
  }
}

extension Bytes {
  /// Returns the scalar at an offset and its byte count; U+FFFD for a byte that begins none.
  @inline(never)
  func scalar(at offset: Int) -> (scalar: UInt32, byteCount: Int) {
    let first = UInt32(self[offset])
    func next(_ distance: Int) -> UInt32? {
      guard offset + distance < count, self[offset + distance] & 0xC0 == 0x80 else { return nil }
      return UInt32(self[offset + distance] & 0x3F)
    }
    switch first {
    case 0..<0x80: return (first, 1)
    case 0xC2..<0xE0:
      if let a = next(1) { return ((first & 0x1F) << 6 | a, 2) }
    case 0xE0..<0xF0:
      if let a = next(1), let b = next(2), case let scalar = (first & 0xF) << 12 | a << 6 | b,
        scalar >= 0x800, !(0xD800..<0xE000).contains(scalar)
      {
        return (scalar, 3)
      }
    case 0xF0..<0xF5:
      if let a = next(1), let b = next(2), let c = next(3),
        case let scalar = (first & 7) << 18 | a << 12 | b << 6 | c,
        (0x1_0000..<0x11_0000).contains(scalar)
      {
        return (scalar, 4)
      }
    default: break
    }
    return (0xFFFD, 1)
  }
}
