import MsgStore
import PageFile

/// Rule 9: attachments and the transfers tree lead to each other.
extension StoreCheck {
  /// The transfers tree has an attachment that moves, or can be found by its hash.
  func attachment(
    _ fact: Bytes, _ value: Bytes, _ name: String, _ view: StoreView
  ) throws(StoreError) {
    guard let record = AttachmentRecord(value) else { return }
    try record.forEachIndexKey(of: fact) { (key) throws(StoreError) in
      if try !contains(key.bytes, Schema.transfers, view) {
        report("\(name) has an attachment that is not in the transfers tree")
      }
    }
  }

  func transfers(_ view: StoreView) throws(StoreError) {
    try walk(Schema.transfers, view) { (key, value) throws(StoreError) in
      guard let (kind, digest, fact) = TransferIndex.parts(key), value.count == 0,
        let parts = FactKey.parts(fact), parts.kind == .attachment
      else { return report("transfers: an entry of \(key.count) bytes is none") }
      let name =
        "transfers: an entry of message \"\(parts.id)\" of conversation \(parts.conversation)"
      guard let record = try view.facts.attachmentRecord(fact) else {
        return report("\(name) leads to no attachment")
      }
      let isRight =
        kind == TransferIndex.moving
        ? record.isMoving : record.indexedHash.map(TransferIndex.digest) == digest
      if !isRight { report("\(name) does not say what its attachment does") }
    }
  }
}
