import MsgStore
import PageFile

/// Rule 9: attachments and the transfers tree agree.
extension StoreCheck {
  /// Checks that the transfers tree has the entries of an attachment: its transfers and its hash.
  func attachment(
    _ fact: Bytes, _ value: Bytes, _ name: String, _ view: StoreView
  ) throws(StoreError) {
    guard let record = AttachmentRecord(value) else { return }
    try record.forEachIndexKey(of: fact) { (key) throws(StoreError) in
      if try !view.contains(key, in: Schema.transfers) {
        report("\(name): attachment missing from the transfers tree")
      }
    }
  }

  /// Checks that each entry of the transfers tree agrees with its attachment.
  func transfers(_ view: StoreView) throws(StoreError) {
    try walk(Schema.transfers, view) { (key, value) throws(StoreError) in
      guard let (kind, digest, fact) = TransferIndex.parts(key), value.count == 0,
        let parts = FactKey.parts(fact), parts.kind == .attachment
      else { return report("transfers: malformed entry (key of \(key.count) bytes)") }
      let name =
        "transfers: entry of message \"\(parts.id)\" of conversation \(parts.conversation)"
      guard let record = try view.facts.attachmentRecord(fact) else {
        return report("\(name): attachment not found")
      }
      let isRight =
        kind == TransferIndex.moving
        ? record.isMoving : record.indexedHash.map(TransferIndex.digest) == digest
      if !isRight { report("\(name): disagrees with its attachment") }
    }
  }
}
