import PageFile

package struct DictionaryReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

  /// A dictionary of the store.
  ///
  /// One lookup in memory but for the first time, which reads up to 64 KiB.
  ///
  /// - Throws: `corruptRecord` when both copies are damaged at the same place, or there is none of
  ///   this number; `storage` for a page that cannot be read.
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
      throw view.corrupt(Schema.settings, "dictionary \(number) is not there, or is damaged")
    }
    if view.keepsDictionaries { view.dictionaries.insert(found) }
    return found
  }

  /// The number of the newest dictionary; 0 when there is none.
  package func newestDictionary() throws(StoreError) -> UInt32 {
    guard view.source.root(of: Schema.settings) != .none else { return 0 }
    var cursor = Cursor(view.source, Schema.settings)
    let isThere = try storage { () throws(PageFileError) in try cursor.last() }
    guard isThere else { return 0 }
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    guard key.bytes[0] == DictionaryPieces.mark else { return 0 }
    guard let number = key.bytes.bigEndianNumber(at: 1), number > 0, number < .max else {
      throw view.corrupt(Schema.settings, "a key of \(key.count) bytes is none of a dictionary")
    }
    return number
  }

  /// The numbers of all dictionaries that the store has a piece of, ascending.
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
        throw view.corrupt(Schema.settings, "a key of \(key.count) bytes is none of a dictionary")
      }
      numbers.append(number)
      guard number < .max else { return numbers }
      key = DictionaryPieces.prefix(number + 1)
    }
  }
}

extension StoreView {
  package var dictionaryTable: DictionaryReader { DictionaryReader(self) }
}
