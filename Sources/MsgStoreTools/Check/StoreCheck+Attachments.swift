import MsgStore
import PageFile

/// Rule 9: attachments and the index agree.
extension StoreCheck {
  /// Checks that the index has the keys of an attachment: its transfers, its hash, and
  /// its local file.
  func attachment(
    _ fact: Bytes, _ value: Bytes, _ name: String, _ view: StoreView
  ) throws(StoreError) {
    guard let record = AttachmentRecord(value) else { return }
    try TransferIndex.forEachKey(of: (fact, record)) { (key) throws(StoreError) in
      if try !view.contains(key, in: Schema.index) {
        let what = key.bytes.indexKind == .neededFile ? "local file" : "attachment"
        report("\(name): \(what) missing from the index")
      }
    }
  }

  /// Checks that each key of the index of attachments agrees with its attachment.
  func transfers(_ view: StoreView) throws(StoreError) {
    try walk(Schema.index, view) { (key, value) throws(StoreError) in
      switch key.indexKind {
      case .unneededFile: return try unneededFile(key, value, view)
      case .moving, .hashed, .neededFile: break
      case .tag, .reply, .waiting, .pendingReceipts, .member: return
      case nil: return report("index: key of no kind (\(key.count) bytes)")
      }
      guard let fact = TransferIndex.fact(key), value.count == 0, let parts = FactKey.parts(fact)
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
