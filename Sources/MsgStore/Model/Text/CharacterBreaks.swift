/// A state machine that finds character boundaries from the classes of successive scalars.
///
/// It implements UAX #29 for extended grapheme clusters, GB1 to GB13, as `Character` does.
enum CharacterBreaks {
  /// The state after the scalars so far.
  enum State: UInt8, CaseIterable {
    case start, carriageReturn, control, other, prepend
    /// Half of a flag.
    case regionalIndicator
    /// A pictograph and its extenders, without and with a joiner at the end.
    case pictograph, joinedPictograph
    /// A consonant and its extenders, without and with a linker among them.
    case consonant, linkedConsonant
    case hangulL, hangulV, hangulT

    static let count = allCases.count

    /// Creates the state after a scalar that begins a character.
    init(_ first: CharacterClass) {
      switch first {
      case .carriageReturn: self = .carriageReturn
      case .lineFeed, .control: self = .control
      case .prepend: self = .prepend
      case .regionalIndicator: self = .regionalIndicator
      case .pictograph: self = .pictograph
      case .consonant: self = .consonant
      case .hangulL: self = .hangulL
      case .hangulV, .hangulLV: self = .hangulV
      case .hangulT, .hangulLVT: self = .hangulT
      case .other, .joiner, .linker, .extend, .nonJoiner, .spacingMark: self = .other
      }
    }
  }

  /// Returns the next state if a scalar belongs to the current character; nil if it begins another
  /// one.
  static func joined(_ state: State, _ next: CharacterClass) -> State? {
    switch (state, next) {
    case (.carriageReturn, .lineFeed): .control  // GB3
    case (.start, _), (.carriageReturn, _), (.control, _): nil  // GB1, GB4
    case (_, .carriageReturn), (_, .lineFeed), (_, .control): nil  // GB5
    case (.hangulL, .hangulL), (.hangulL, .hangulV), (.hangulL, .hangulLV), (.hangulL, .hangulLVT),
      (.hangulV, .hangulV), (.hangulV, .hangulT), (.hangulT, .hangulT):
      State(next)  // GB6, GB7, GB8
    case (.pictograph, .joiner): .joinedPictograph
    case (.pictograph, .extend), (.pictograph, .linker), (.pictograph, .nonJoiner): .pictograph
    case (.consonant, .extend), (.consonant, .joiner): .consonant
    case (.consonant, .linker), (.linkedConsonant, .extend), (.linkedConsonant, .joiner),
      (.linkedConsonant, .linker):
      .linkedConsonant
    case (_, .extend), (_, .joiner), (_, .linker), (_, .nonJoiner), (_, .spacingMark):
      .other  // GB9, GB9a
    case (.prepend, _): State(next)  // GB9b
    case (.linkedConsonant, .consonant): .consonant  // GB9c
    case (.joinedPictograph, .pictograph): .pictograph  // GB11
    case (.regionalIndicator, .regionalIndicator): .other  // GB12, GB13
    default: nil  // GB999
    }
  }

  /// The flag added to a state in the table if a character begins there.
  static let begins: UInt8 = 128
  /// The number of classes that fit into a row of the table.
  static let maximumClassCount = 32

  /// The next states, by state and class.
  ///
  /// Only this kind of array has a span on every system.
  static let table = {
    var table = ContiguousArray<UInt8>(repeating: 0, count: State.count * maximumClassCount)
    for state in State.allCases {
      for next in CharacterClass.allCases {
        table[Int(state.rawValue) * maximumClassCount + Int(next.rawValue)] =
          joined(state, next)?.rawValue ?? (State(next).rawValue | begins)
      }
    }
    return table
  }()

  /// Returns the number of characters in valid UTF-8, at most `maximumCount`.
  ///
  /// Takes about a nanosecond for each scalar after the first of its character. Bytes after the
  /// last counted character cost nothing.
  static func count(_ bytes: Span<UInt8>, _ range: Range<Int>, maximumCount: Int) -> Int {
    let allClasses = CharacterClass.table
    let classes = allClasses.span
    let allStates = table
    let states = allStates.span
    var count = 0
    var state = State.start.rawValue
    var offset = range.lowerBound
    while offset < range.upperBound {
      let index = CharacterClass.tableIndex(scalar(bytes, &offset))
      // Unsafe, here and below: the comparison keeps the index within the first table, and the
      // second one has all pairs. Another bounds check doubles the time.
      let next = index < classes.count ? unsafe classes[unchecked: index] : 0
      let following = unsafe states[unchecked: Int(state) &* maximumClassCount &+ Int(next)]
      // A run of marks leaves the state unchanged. This branch is therefore well predicted, and a
      // scalar need not wait for the result of the one before.
      if following != state {
        state = following & ~begins
        count &+= Int(following >> 7)
        if count >= maximumCount { return maximumCount }
      } else if index < 0x370 {
        // Below U+0370 only a mark leaves a state unchanged, and then so do all marks that follow
        // it.
        while offset &+ 8 <= range.upperBound, isAllMarks(bytes, at: offset) { offset &+= 8 }
      }
    }
    return count
  }

  /// Returns true if eight bytes are four scalars of U+0300 to U+036F, the marks that are often
  /// stacked: `CC` and any byte, or `CD` and one below `B0`.
  @inline(__always)
  private static func isAllMarks(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
    // Unsafe: any bytes are a valid number; the caller checks that they exist.
    let word = UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    let isCCOrCD = word & 0x00FE_00FE_00FE_00FE == 0x00CC_00CC_00CC_00CC
    let isCDAndFromB0 = word & (word >> 12) & (word >> 13) & 0x0001_0001_0001_0001
    return isCCOrCD && isCDAndFromB0 == 0
  }

  /// Returns the scalar that begins at an offset in valid UTF-8 and moves the offset past it.
  @inline(__always)
  static func scalar(_ bytes: Span<UInt8>, _ offset: inout Int) -> UInt32 {
    let first = UInt32(unsafe bytes[unchecked: offset])
    if first < 0x80 {
      offset &+= 1
      return first
    }
    // Unsafe, here and below: in valid UTF-8 the first byte determines the number of bytes.
    let second = UInt32(unsafe bytes[unchecked: offset &+ 1] & 0x3F)
    if first < 0xE0 {
      offset &+= 2
      return (first & 0x1F) << 6 | second
    }
    let third = UInt32(unsafe bytes[unchecked: offset &+ 2] & 0x3F)
    if first < 0xF0 {
      offset &+= 3
      return (first & 0xF) << 12 | second << 6 | third
    }
    let fourth = UInt32(unsafe bytes[unchecked: offset &+ 3] & 0x3F)
    offset &+= 4
    return (first & 7) << 18 | second << 12 | third << 6 | fourth
  }
}
