import PageFile

/// A reader of the store's compression dictionaries.
package struct DictionaryReader {
  let view: StoreView

  /// Returns a dictionary of the store.
  ///
  /// The first call reads up to 64 KiB. Later calls are one lookup in memory.
  ///
  /// - Throws: `corruptRecord` if both copies are damaged at the same place or no dictionary has
  ///   this number; `storage` if a page cannot be read.
  func dictionary(_ number: UInt32) throws(StoreError) -> CompressionDictionary {
    if let known = view.dictionaries[number] { return known }
    var failure: StoreError?
    let found = DictionaryPieces.assemble(number) { (key, value) in
      do throws(StoreError) {
        return try view.value(of: key, in: Schema.settings, appendTo: &value)
      } catch {
        failure = error
        return false
      }
    }
    guard let found else {
      // A fault of the system says nothing about the dictionary.
      if let failure, !failure.isDamage { throw failure }
      throw view.corrupt(Schema.settings, "dictionary \(number): missing or damaged")
    }
    if view.keepsDictionaries { view.dictionaries.insert(found) }
    return found
  }

  /// Returns the number of the newest dictionary, or 0 if the store has none.
  package func newestDictionary() throws(StoreError) -> UInt32 {
    guard view.source.root(of: Schema.settings) != .none else { return 0 }
    var cursor = Cursor(view.source, Schema.settings)
    let isThere = try storage { () throws(PageFileError) in try cursor.last() }
    guard isThere else { return 0 }
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    guard key.bytes[0] == DictionaryPieces.mark else { return 0 }
    guard let number = key.bytes.bigEndianNumber(at: 1), number > 0, number < .max else {
      throw view.corrupt(Schema.settings, "malformed dictionary key (\(key.count) bytes)")
    }
    return number
  }

  /// Returns the numbers of all dictionaries of which the store has a piece, ascending.
  package func dictionaryNumbers() throws(StoreError) -> [UInt32] {
    var numbers: [UInt32] = []
    var cursor = Cursor(view.source, Schema.settings)
    var key = DictionaryPieces.prefix(0)
    while true {
      try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
      guard cursor.isAtCell else { return numbers }
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let number = key.bytes.bigEndianNumber(at: 1), number > 0 else {
        throw view.corrupt(Schema.settings, "malformed dictionary key (\(key.count) bytes)")
      }
      numbers.append(number)
      guard number < .max else { return numbers }
      key = DictionaryPieces.prefix(number + 1)
    }
  }
}

extension StoreView {
  package var dictionaryTable: DictionaryReader { DictionaryReader(view: self) }
}
