package import PageFile

/// Encodes texts as LZ4 blocks against one dictionary.
///
/// The dictionary is learnt once, when the encoder is made, and copied in front of the place where
/// each text is put: a search for matches then need not know where one ends and the other begins.
///
/// Finding the matches of a text takes nearly all of the time, and the matches of its beginning are
/// those of the whole. So a text is searched once, and then the sizes of blocks for its beginnings
/// are known: a caller with limited room takes as much of the text as fits.
@safe
package final class BlockEncoder: @unchecked Sendable {
  // Unchecked: one owner uses it, for one text at a time.

  /// The longest text, in bytes.
  package static let maximumTextByteCount = 1 << 30

  private let dictionary: DictionaryTables?
  private let dictionaryByteCount: Int
  /// The tables of the text, see `MatchSearch`; the second is empty with a dictionary.
  private let four: UnsafeMutableBufferPointer<UInt32>
  private let six: UnsafeMutableBufferPointer<UInt32>
  /// The dictionary, and behind it room for a text.
  private var memory: UnsafeMutableRawBufferPointer
  private var matches: [Match] = []
  private var textByteCount = 0
  /// The number of bytes of the text whose matches were found.
  private var searchedByteCount = 0

  /// Creates an encoder; of a longer dictionary it uses the last 65,535 bytes.
  package init(dictionary: Bytes) {
    let byteCount = min(dictionary.count, Matches.maximumDistance)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    // Unsafe: the memory has the size of what is copied, and a window of it is used at once.
    unsafe dictionary.dropFirst(dictionary.count - byteCount).withUnsafeBytes {
      unsafe memory.copyMemory(from: $0)
    }
    dictionaryByteCount = byteCount
    self.dictionary =
      byteCount > 0 ? unsafe DictionaryTables(Window(UnsafeRawBufferPointer(memory))) : nil
    unsafe self.memory = memory
    unsafe four = .zeros(MatchSearch.tableCount)
    unsafe six = .zeros(byteCount > 0 ? 0 : MatchSearch.tableCount)
  }

  deinit {
    dictionary?.deallocate()
    unsafe memory.deallocate()
    unsafe four.deallocate()
    unsafe six.deallocate()
  }

  /// Encodes a text into `target`; returns the size of the block, or 0 if it does not fit.
  ///
  /// Allocates only if the text is longer than all before it. `target` must not overlap the text.
  package func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    guard text.count <= Self.maximumTextByteCount else { return 0 }
    search(text, limit: target.count)
    return encode(first: text.count, into: target)
  }

  /// Takes a text and finds its matches, until its block has more than `limit` bytes.
  package func search(_ text: Bytes, limit: Int) {
    precondition(text.count <= Self.maximumTextByteCount, "text: too long")
    // Unsafe: the tables have that size.
    unsafe four.update(repeating: 0)
    unsafe six.update(repeating: 0)
    matches.removeAll(keepingCapacity: true)
    put(text, at: 0)
    search(from: 0, anchor: 0, byteCount: 0, limit: limit)
  }

  /// Cuts the text after some bytes whose matches were found, and puts others behind them.
  ///
  /// - Parameter byteCount: Not more than in an earlier call for the same text.
  package func replace(from byteCount: Int, with rest: Bytes, limit: Int) {
    precondition(byteCount <= searchedByteCount, "text: cut behind its known matches")
    let cut = dictionaryByteCount + byteCount
    while let last = matches.last, last.place + 4 > cut { matches.removeLast() }
    if let last = matches.last, last.end > cut {
      matches[matches.count - 1].count = cut - last.place
    }
    put(rest, at: byteCount)
    let anchor = matches.last?.end ?? dictionaryByteCount
    search(
      from: byteCount, anchor: anchor - dictionaryByteCount,
      byteCount: blockByteCount(of: matches.count), limit: limit)
  }

  /// Returns the size of the block for the beginning of the text; nil if the block has more bytes
  /// than the limit of the search.
  package func blockByteCount(first byteCount: Int) -> Int? {
    guard byteCount <= searchedByteCount else { return nil }
    let (count, last) = cut(at: byteCount)
    var size = blockByteCount(of: count)
    var anchor = count > 0 ? matches[count - 1].end : dictionaryByteCount
    if let last {
      size += Match.byteCount(literals: last.place - anchor, match: last.count)
      anchor = last.end
    }
    return size + Match.byteCount(literals: dictionaryByteCount + byteCount - anchor)
  }

  /// Encodes the beginning of the text into `target`.
  ///
  /// Returns the size of the block, or 0 if it does not fit.
  package func encode(first byteCount: Int, into target: MutableBytes) -> Int {
    guard byteCount <= searchedByteCount else { return 0 }
    // Unsafe: the windows have the sizes of the buffers, and do not outlive this call.
    return unsafe target.withUnsafeMutableBytes { target in
      let end = dictionaryByteCount + byteCount
      let window = unsafe Window(UnsafeRawBufferPointer(rebasing: memory[..<end]))
      var writer = unsafe SequenceWriter(window, to: MutableWindow(target))
      let (count, last) = cut(at: byteCount)
      var anchor = dictionaryByteCount
      func append(_ match: Match) -> Bool {
        defer { anchor = match.end }
        return writer.append(
          literals: anchor, match.place - anchor, distance: match.distance,
          matchCount: match.count)
      }
      for index in 0..<count { guard append(matches[index]) else { return 0 } }
      if let last { guard append(last) else { return 0 } }
      return writer.appendLast(literals: anchor, end - anchor) ? writer.byteCount : 0
    }
  }

  /// Encodes a single text fast, without a dictionary, and keeps nothing for the next one.
  package static func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    guard text.count <= maximumTextByteCount else { return 0 }
    // Unsafe: as above; the table has the size that the search requires.
    return unsafe text.withUnsafeBytes { text in
      unsafe target.withUnsafeMutableBytes { target in
        unsafe withUnsafeTemporaryAllocation(
          of: UInt32.self, capacity: FastSearch.tableCount
        ) { table in
          unsafe table.initialize(repeating: 0)
          let search = unsafe FastSearch(window: Window(UnsafeRawBufferPointer(text)), table: table)
          return search.encode(to: unsafe MutableWindow(target))
        }
      }
    }
  }

  // MARK: Matches

  private func search(from start: Int, anchor: Int, byteCount: Int, limit: Int) {
    let end = dictionaryByteCount + textByteCount
    // Unsafe: the window has the size of dictionary and text, and does not outlive this call.
    let search = unsafe MatchSearch(
      window: Window(UnsafeRawBufferPointer(rebasing: memory[..<end])), dictionary: dictionary,
      four: four, six: six)
    let place = search.append(
      to: &matches, from: dictionaryByteCount + start, anchor: dictionaryByteCount + anchor,
      byteCount: byteCount, limit: limit)
    searchedByteCount = place - dictionaryByteCount
  }

  /// Returns the size of the first matches with their literals.
  private func blockByteCount(of count: Int) -> Int {
    guard count > 0 else { return 0 }
    let last = matches[count - 1]
    let anchor = count > 1 ? matches[count - 2].end : dictionaryByteCount
    return last.byteCountBefore
      + Match.byteCount(literals: last.place - anchor, match: last.count)
  }

  /// Returns the number of matches that the block for the beginning of the text has as they are.
  ///
  /// The next match, too, as far as it may reach by the rules for the end of a block.
  private func cut(at byteCount: Int) -> (count: Int, last: Match?) {
    let end = dictionaryByteCount + byteCount
    var (low, high) = (0, matches.count)
    while low < high {
      let middle = (low + high) / 2
      let isWhole =
        matches[middle].end + Matches.endMargin <= end
        && matches[middle].place + Matches.startMargin <= end
      if isWhole { low = middle + 1 } else { high = middle }
    }
    guard low < matches.count, matches[low].place + Matches.startMargin <= end else {
      return (low, nil)
    }
    var last = matches[low]
    last.count = end - Matches.endMargin - last.place
    return (low, last)
  }

  /// Puts bytes of a text behind the first ones.
  private func put(_ bytes: Bytes, at byteCount: Int) {
    textByteCount = byteCount + bytes.count
    let start = dictionaryByteCount + byteCount
    let end = start + bytes.count
    // Unsafe: the memory is as large as what is copied to it.
    if unsafe end > memory.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: end + textByteCount / 2, alignment: 16)
      unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<start]))
      unsafe memory.deallocate()
      unsafe memory = larger
    }
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<end]).copyMemory(from: bytes)
    }
  }
}
