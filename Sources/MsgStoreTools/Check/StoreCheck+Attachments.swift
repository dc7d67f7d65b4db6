import MsgStore
import PageFile

/// Rule 9: attachments and the transfers tree agree.
extension StoreCheck {
  /// Checks that the transfers tree has the entries of an attachment: its transfers, its hash, and
  /// its local file.
  func attachment(
    _ fact: Bytes, _ value: Bytes, _ name: String, _ view: StoreView
  ) throws(StoreError) {
    guard let record = AttachmentRecord(value) else { return }
    try TransferIndex.forEachKey(of: (fact, record)) { (key) throws(StoreError) in
      if try !view.contains(key, in: Schema.transfers) {
        let what = key.bytes[0] == FileIndex.needed ? "local file" : "attachment"
        report("\(name): \(what) missing from the transfers tree")
      }
    }
  }

  /// Checks that each entry of the transfers tree agrees with its attachment.
  func transfers(_ view: StoreView) throws(StoreError) {
    try walk(Schema.transfers, view) { (key, value) throws(StoreError) in
      if key.count > 0, key[0] == FileIndex.unneeded { return try unneededFile(key, value, view) }
      guard
        let fact = TransferIndex.parts(key)?.fact ?? FileIndex.neededParts(key)?.fact,
        value.count == 0,
        let parts = FactKey.parts(fact), parts.kind == .attachment
      else { return report("transfers: malformed entry (key of \(key.count) bytes)") }
      let name =
        "transfers: entry of message \"\(parts.id)\" of conversation \(parts.conversation)"
      guard let record = try view.facts.attachmentRecord(fact) else {
        return report("\(name): attachment not found")
      }
      var isRight = false
      try TransferIndex.forEachKey(of: (fact, record)) { (other) throws(StoreError) in
        if other.bytes.compare(to: key) == 0 { isRight = true }
      }
      if !isRight { report("\(name): disagrees with its attachment") }
    }
  }

  /// Checks that a listed file is listed once, and that no attachment needs it.
  private func unneededFile(
    _ key: Bytes, _ value: Bytes, _ view: StoreView
  ) throws(StoreError) {
    guard let (number, path) = FileIndex.unneededParts(key, value) else {
      return report("transfers: malformed entry of an unneeded file (key of \(key.count) bytes)")
    }
    if try view.files.place(of: path).number != number {
      report("transfers: file \"\(path)\": listed twice")
    }
    if try view.files.isNeeded(path) {
      report("transfers: file \"\(path)\": listed, but an attachment needs it")
    }
  }
}
