/// The memory of thorough searches.
///
/// Searches leave the heads and links of a dictionary as they are, and those of earlier texts come
/// to lie too far back to be taken. So nothing is copied for a text.
@safe
final class HighTables {
  private let heads: UnsafeMutableBufferPointer<UInt32>
  private let dictionaryHeads: UnsafeMutableBufferPointer<UInt16>
  /// The links of the dictionary, and behind them room for those of a text.
  private var links: UnsafeMutableBufferPointer<UInt16>
  private var base = Matches.firstBase

  init(_ dictionary: Window) {
    // Unsafe: the search gets tables of its sizes, and a link for each place.
    unsafe heads = .zeros(HighSearch.tableCount)
    unsafe dictionaryHeads = .zeros(HighSearch.tableCount)
    unsafe links = .zeros(dictionary.count)
    search(dictionary, from: 0).learn()
  }

  deinit {
    unsafe heads.deallocate()
    unsafe dictionaryHeads.deallocate()
    unsafe links.deallocate()
  }

  /// Encodes the text that begins at `start`, behind the dictionary.
  func encode(_ window: Window, from start: Int, to target: MutableWindow) -> Int {
    // Unsafe: the links of the dictionary are copied, and the search sets the others before it
    // follows them.
    if unsafe window.count > links.count {
      let larger = unsafe UnsafeMutableBufferPointer<UInt16>.zeros(
        window.count + (window.count - start) / 2)
      _ = unsafe larger.update(fromContentsOf: links[..<start])
      unsafe links.deallocate()
      unsafe links = larger
    }
    if base > UInt32.max / 2 {
      unsafe heads.update(repeating: 0)
      base = Matches.firstBase
    }
    let search = search(window, from: start)
    base = Matches.base(after: base, window)
    return search.encode(to: target)
  }

  private func search(_ window: Window, from start: Int) -> HighSearch {
    unsafe HighSearch(
      window: window, start: start, heads: heads, dictionaryHeads: dictionaryHeads, links: links,
      base: base)
  }
}
