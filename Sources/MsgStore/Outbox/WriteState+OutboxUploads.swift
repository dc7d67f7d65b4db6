import PageFile

/// Uploads that stop and go on.
extension WriteState {
  /// How many bytes of an attachment are known to be on the server.
  func uploadedByteCount(
    _ attachment: String, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Int64 {
    guard let number = try reader.number(of: conversation),
      let (_, _, own) = try reader.found(id, in: number)
    else { return 0 }
    let fact = FactKey.key(number, own, attachment: attachment)
    guard case .running(let stored)? = try reader.attachmentRecord(fact.bytes)?.upload else {
      return 0
    }
    let key = RunningTransfers.Key(fact: fact.bytes.array(), direction: .upload)
    return doneByteCount(key) ?? stored
  }

  /// Notes that nobody uploads an attachment for now.
  ///
  /// It stays stored as running, with its progress, so that it goes on from there: what nobody runs
  /// reads as queued.
  func pauseUpload(
    of attachment: String, message id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    let byteCount = try uploadedByteCount(attachment, of: id, in: conversation)
    _ = try setTransfer(
      .upload, to: .running(doneByteCount: byteCount), of: attachment, message: id,
      in: conversation)
    guard let number = try reader.number(of: conversation),
      let (_, _, own) = try reader.found(id, in: number)
    else { return }
    let fact = FactKey.key(number, own, attachment: attachment)
    transferChanges[.init(fact: fact.bytes.array(), direction: .upload)] = .some(nil)
    // Its record may be as it was; it reads as queued all the same.
    if isHeard { noteChange(of: fact.bytes, in: Schema.facts) }
  }
}
