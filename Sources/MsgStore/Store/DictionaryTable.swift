import PageFile

/// Stores and removes compression dictionaries.
struct DictionaryTable: TransactionPart {
  let transaction: Transaction

  /// Stores a dictionary, which is used for all segments packed from now on.
  ///
  /// Returns false and stores nothing if `expected` is no longer the newest dictionary.
  func add(
    _ bytes: Bytes, number: UInt32, ifNewestIs expected: UInt32
  ) throws(StoreError) -> Bool {
    // A segment stores the number plus one, in the same 32 bits.
    guard number < .max, try view.dictionaryTable.newestDictionary() == expected else {
      return false
    }
    transaction.hasAdded = true
    // If this transaction is rolled back, another dictionary may get the number.
    transaction.stopKeepingDictionaries()
    let checksum = DictionaryPieces.checksum(of: bytes, number: number)
    for copy in 0..<DictionaryPieces.copyCount {
      for index in 0..<DictionaryPieces.count(byteCount: bytes.count) {
        let key = DictionaryPieces.key(number, copy: copy, index)
        let value = DictionaryPieces.value(index, of: bytes, checksum)
        try transaction.insert(key.bytes, value.bytes, in: Schema.settings)
      }
    }
    return true
  }
}

extension Transaction {
  var dictionaryTable: DictionaryTable { DictionaryTable(transaction: self) }
}
