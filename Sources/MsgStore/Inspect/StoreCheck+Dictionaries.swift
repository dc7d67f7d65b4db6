import PageFile

/// Rule 11.
extension StoreCheck {
  func dictionaries(_ reader: StoreReader) throws(StoreError) {
    let numbers = try reader.within { () throws(StoreError) in try reader.dictionaryNumbers() }
    for number in numbers {
      try reader.within { () throws(StoreError) in try check(number, reader) }
    }
  }

  /// Either copy must do without the other.
  private func check(_ number: UInt32, _ reader: StoreReader) throws(StoreError) {
    var failure: StoreError?
    func isWhole(_ copies: [UInt8]) -> Bool {
      let found = DictionaryPieces.assemble(number, from: copies) { (key, value) in
        do throws(StoreError) {
          return try reader.value(of: key, in: Schema.settings, appendTo: &value)
        } catch {
          if !error.isDamage { failure = error }
          return false
        }
      }
      return found != nil
    }
    let damaged = (0..<DictionaryPieces.copyCount).filter { !isWhole([$0]) }
    let isLost = damaged.count > 1 && !isWhole([0, 1]) && !isWhole([1, 0])
    if let failure { throw failure }
    for copy in damaged {
      report("settings: copy \(copy + 1) of dictionary \(number) is damaged")
    }
    if isLost { report("settings: dictionary \(number) is lost") }
  }
}
