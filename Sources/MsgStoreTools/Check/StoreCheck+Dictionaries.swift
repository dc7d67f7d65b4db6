import MsgStore
import PageFile

/// Rule 11: each dictionary has two complete copies.
extension StoreCheck {
  func dictionaries(_ view: StoreView) throws(StoreError) {
    let numbers = try view.within { () throws(StoreError) in
      try view.dictionaryTable.dictionaryNumbers()
    }
    for number in numbers {
      try view.within { () throws(StoreError) in try check(number, view) }
    }
  }

  /// Checks that either copy of a dictionary is complete without the other.
  private func check(_ number: UInt32, _ view: StoreView) throws(StoreError) {
    var failure: StoreError?
    func isWhole(_ copies: [UInt8]) -> Bool {
      let found = DictionaryPieces.assemble(number, from: copies) { (key, value) in
        do throws(StoreError) {
          return try view.value(of: key, in: Schema.settings, appendTo: &value)
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
      report("settings: copy \(copy + 1) of dictionary \(number): damaged")
    }
    if isLost { report("settings: dictionary \(number): lost") }
  }
}
