package import PageFile

/// Encodes texts as LZ4 blocks against one dictionary.
///
/// The dictionary is learnt once, when the encoder is made, and copied in front of the place where
/// each text is put: a search for matches then need not know where one ends and the other begins.
@safe
package final class BlockEncoder: @unchecked Sendable {
  // Unchecked: one owner uses it, for one text at a time.

  /// The time that a block is worth.
  package enum Effort: Sendable {
    /// Takes the first match.
    case fast
    /// Looks for longer matches: blocks become smaller in several times the time.
    case high
  }

  private enum Tables {
    case fast(FastTables)
    case high(HighTables)
  }

  /// The longest text, in bytes.
  package static let maximumTextByteCount = 1 << 30

  private let tables: Tables
  private let dictionaryByteCount: Int
  /// The dictionary, and behind it room for a text; empty without a dictionary.
  private var memory: UnsafeMutableRawBufferPointer

  /// Creates an encoder; of a longer dictionary it uses the last 65,535 bytes.
  package init(_ effort: Effort, dictionary: Bytes) {
    let byteCount = min(dictionary.count, Matches.maximumDistance)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    // Unsafe: the memory has the size of what is copied, and a window of it is used at once.
    unsafe dictionary.dropFirst(dictionary.count - byteCount).withUnsafeBytes {
      unsafe memory.copyMemory(from: $0)
    }
    let window = unsafe Window(UnsafeRawBufferPointer(memory))
    tables =
      switch effort {
      case .fast: .fast(FastTables(window))
      case .high: .high(HighTables(window))
      }
    dictionaryByteCount = byteCount
    unsafe self.memory = memory
  }

  deinit { unsafe memory.deallocate() }

  /// Encodes a text into `target`; returns the size of the block, or 0 if it does not fit.
  ///
  /// Allocates only if the text is longer than all before it. `target` must not overlap the text.
  package func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    guard text.count <= Self.maximumTextByteCount else { return 0 }
    // Unsafe: the windows have the sizes of the buffers, and do not outlive this call.
    return unsafe text.withUnsafeBytes { text in
      unsafe target.withUnsafeMutableBytes { target in
        let window = unsafe window(text)
        let target = unsafe MutableWindow(target)
        return switch tables {
        case .fast(let tables): tables.encode(window, from: dictionaryByteCount, to: target)
        case .high(let tables): tables.encode(window, from: dictionaryByteCount, to: target)
        }
      }
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
          let search = unsafe FastSearch(
            window: Window(UnsafeRawBufferPointer(text)), start: 0, table: table,
            base: Matches.firstBase, hashedByteCount: 4)
          return search.encode(to: unsafe MutableWindow(target))
        }
      }
    }
  }

  /// Returns the dictionary with the text behind it.
  ///
  /// Valid until the next text, and as long as the text.
  @unsafe
  private func window(_ text: UnsafeRawBufferPointer) -> Window {
    if dictionaryByteCount == 0 { return unsafe Window(text) }
    let byteCount = dictionaryByteCount + text.count
    if unsafe byteCount > memory.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: byteCount + text.count / 2, alignment: 16)
      unsafe larger.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: memory[..<dictionaryByteCount]))
      unsafe memory.deallocate()
      unsafe memory = larger
    }
    let room = unsafe UnsafeMutableRawBufferPointer(
      rebasing: memory[dictionaryByteCount..<byteCount])
    unsafe room.copyMemory(from: text)
    return unsafe Window(UnsafeRawBufferPointer(rebasing: memory[..<byteCount]))
  }
}
