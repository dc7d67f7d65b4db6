import PageFile

struct DictionaryTable: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Stores a dictionary, which the segments that are packed from now on use.
  ///
  /// False, and nothing stored, when there is another newest one than was expected.
  func add(
    _ bytes: Bytes, number: UInt32, ifNewestIs expected: UInt32
  ) throws(StoreError) -> Bool {
    // A segment names one more than the number, in the same 32 bits.
    guard number < .max, try view.dictionaryTable.newestDictionary() == expected else {
      return false
    }
    transaction.hasAdded = true
    // Until this is committed its number may still be given to another.
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
  var dictionaryTable: DictionaryTable { DictionaryTable(self) }
}
