import MsgStore
import PageFile

/// Restores outbox entries, all of them held.
///
/// The owner of a restored store, or of one that another program has written to, decides whether
/// unsent entries are still to be sent. They may have been sent elsewhere meanwhile.
struct RestoredOutbox: TransactionPart {
  let transaction: Transaction

  /// Enters an exported entry, held; returns false if it has nothing to tell.
  ///
  /// - Parameter isComplete: True if all receipts have been restored. If not, `finishRestoring`
  ///   checks the pending receipts later.
  func restore(_ given: ExportedEntry, isComplete: Bool) throws(StoreError) -> Bool {
    try given.validate()
    var number: UInt32 = 0
    if let id = given.conversation {
      guard let conversation = try transaction.existingConversation(id) else { return false }
      number = conversation.number
    } else if given.task != .client, given.task != .setMemberField {
      return false
    }
    var given = given
    if let id = given.message, let (_, _, own) = try flushed().messages.found(id, in: number) {
      given.message = own
    }
    let subject = try OutboxSubject(given) { (members) throws(StoreError) in
      try transaction.memberNumbers(of: members)
    }
    guard let subject else { return false }
    var record = OutboxRecord(
      subject, of: number, token: given.token ?? .random(),
      created: given.created?.microseconds ?? transaction.recordedTime())
    record.attemptCount = UInt64(min(max(given.attemptCount, 0), 1 << 40))
    record.failure = given.failure
    record.contentSum = given.contentSum
    if isComplete || !subject.isReceipt, try !flushed().exports.holds(record) { return false }
    return try transaction.outboxEntering.enterHeld(record)
  }
}

extension ExportedEntry {
  fileprivate func validate() throws(StoreError) {
    try conversation?.validate()
    try message?.validate()
    for member in added + removed { try member.validate() }
    try member?.validate()
    let memberCount = max(added.count, removed.count)
    guard memberCount <= ConversationDetails.maximumParticipantCount else {
      throw .input(
        .tooMany(
          .participants,
          count: memberCount, limit: ConversationDetails.maximumParticipantCount))
    }
    switch task {
    case .react:
      try Reaction(emoji, from: "any", at: Timestamp(microseconds: 0)).validate()
    case .upload:
      try MessageAttachment(id: attachment, kind: .other).validate()
    case .setMessageField, .setConversationField, .setMemberField:
      if !field.isEmpty { try OwnField.validate(name: field) }
    case .client:
      try Identifier.validate("name of work", byteCount: name.utf8.count)
      guard payload.count <= OutboxOptions.maximumPayloadByteCount else {
        throw .input(
          .tooLong(
            .outboxPayload,
            byteCount: payload.count, limit: OutboxOptions.maximumPayloadByteCount))
      }
    default: break
    }
  }
}

extension Transaction {
  var restoredOutbox: RestoredOutbox { RestoredOutbox(transaction: self) }
}
