/// The memory of fast searches.
///
/// A text leaves its places in the table. With a dictionary, the table is therefore copied for each
/// text; without one, the places of earlier texts come to lie too far back to be taken.
@safe
final class FastTables {
  private let table: UnsafeMutableBufferPointer<UInt32>
  /// The table of the dictionary; empty without one.
  private let dictionaryTable: UnsafeMutableBufferPointer<UInt32>
  private var base = Matches.firstBase

  init(_ dictionary: Window) {
    // Unsafe: the search gets a table of its size.
    unsafe table = .zeros(FastSearch.tableCount)
    unsafe dictionaryTable = .zeros(dictionary.count > 0 ? FastSearch.tableCount : 0)
    guard dictionary.count > 0 else { return }
    let search = unsafe FastSearch(
      window: dictionary, start: 0, table: dictionaryTable, base: base, hashedByteCount: 5)
    search.learn()
  }

  deinit {
    unsafe table.deallocate()
    unsafe dictionaryTable.deallocate()
  }

  /// Encodes the text that begins at `start`, behind the dictionary.
  func encode(_ window: Window, from start: Int, to target: MutableWindow) -> Int {
    // Unsafe: the search gets a table of its size; the two tables have the same size.
    if let prepared = unsafe dictionaryTable.baseAddress, start > 0 {
      unsafe table.baseAddress?.update(from: prepared, count: FastSearch.tableCount)
    } else if base > UInt32.max / 2 {
      unsafe table.update(repeating: 0)
      base = Matches.firstBase
    }
    let search = unsafe FastSearch(
      window: window, start: start, table: table, base: base, hashedByteCount: start > 0 ? 5 : 4)
    if start == 0 { base = Matches.base(after: base, window) }
    return search.encode(to: target)
  }
}
