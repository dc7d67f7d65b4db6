import PageFile

/// Rule 11.
extension StoreCheck {
  func dictionaries(_ reader: StoreReader, _ localMember: MemberID?) throws(StoreError) {
    var cursor = Cursor(reader.source, Schema.settings)
    var key = DictionaryPieces.prefix(0)
    while true {
      try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
      guard cursor.isAtCell else { return }
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let number = key.bytes.bigEndianNumber(at: 1), number > 0 else {
        return report("settings: a key of \(key.count) bytes is none of a dictionary")
      }
      check(number, reader)
      guard number < .max else { return }
      key = DictionaryPieces.prefix(number + 1)
    }
  }

  /// Either copy must do without the other.
  private func check(_ number: UInt32, _ reader: StoreReader) {
    func isWhole(_ copies: [UInt8]) -> Bool {
      let found = DictionaryPieces.assemble(number, from: copies) { (key, value) in
        do throws(StoreError) {
          return try reader.value(of: key, in: Schema.settings, appendTo: &value)
        } catch {
          return false
        }
      }
      return found != nil
    }
    let damaged = (0..<DictionaryPieces.copyCount).filter { !isWhole([$0]) }
    for copy in damaged {
      report("settings: copy \(copy + 1) of dictionary \(number) is damaged")
    }
    if damaged.count > 1, !isWhole([0, 1]), !isWhole([1, 0]) {
      report("settings: dictionary \(number) is lost")
    }
  }
}
