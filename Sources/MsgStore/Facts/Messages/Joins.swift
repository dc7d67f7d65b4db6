import PageFile

// The joins of the fields in a message's record: of two copies, and of what waited for the message.
// A field that is added to the record needs its rule here, and its end in `StoredMessage.erase`.

extension StoredMessage {
  /// Merges the fields that only rise: the status, and the earliest times of delivery, reading,
  /// retraction, and expiry.
  mutating func raise(_ other: StoredMessage) { raise(other.status, other.traits) }

  mutating func raise(_ status: MessageStatus, _ times: MessageTraits? = nil) {
    if status.isServerKnowledge {
      // The server has the message, so the state of sending it is obsolete.
      if !self.status.isServerKnowledge { traits.sending = MessageTraits.Sending() }
      if StoreDefect.statusLowered.isPlanted { self.status = status }
      self.status.advance(to: status, by: .server)
    }
    if let times { traits.joinTimes(times) }
  }

  static func earlier(_ a: Int64?, _ b: Int64?) -> Int64? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
  }
}

extension MessageTraits {
  /// Keeps the earliest known times of delivery, reading, retraction, and expiry, and the newest
  /// list of attachments.
  mutating func joinTimes(_ other: MessageTraits) {
    deliveredAt = StoredMessage.earlier(deliveredAt, other.deliveredAt)
    readAt = StoredMessage.earlier(readAt, other.readAt)
    retractedAt = StoredMessage.earlier(retractedAt, other.retractedAt)
    expiryTime = StoredMessage.earlier(expiryTime, other.expiryTime)
    // A retracted message has no attachments, and no list of them.
    if marks.contains(.retracted) { return keptAttachments = nil }
    keptAttachments = KeptAttachments.later(keptAttachments, other.keptAttachments)
  }
}

extension WaitingFacts {
  /// Merges everything except names.
  mutating func merge(_ other: WaitingFacts) {
    status.advance(to: other.status, by: .server)
    merge(other.place)
    // No mark of a message that is not here is ever taken from it.
    traits.marks.formUnion(other.traits.marks)
    traits.joinTimes(other.traits)
    traits.ownFields.merge(other.traits.ownFields)
    if traits.marks.contains(.retracted) {
      traits.ownFields = OwnFields()
      traits.keptAttachments = nil
    }
  }

  /// Merges the statements of an acknowledgement.
  mutating func merge(_ given: PlaceFacts?) {
    guard let given else { return }
    var facts = place ?? given
    facts.merge(given)
    time = facts.place.time
    sequence = facts.place.sequence
    var message = StoredMessage(status: .sent, sender: 0, text: "")
    facts.keep(in: &message)
    traits.revision = message.traits.revision
    traits.sequencedTime = message.traits.sequencedTime
    status.advance(to: .sent, by: .server)
  }
}

extension ReceivedMessages {
  /// Merges waiting facts into their message, except for its place.
  @inline(never)
  package func absorb(
    _ waiting: WaitingFacts, named id: MessageID, into message: inout StoredMessage,
    in conversation: UInt32
  ) throws(StoreError) {
    message.raise(
      StoreDefect.waitingStatusIgnored.isPlanted ? .pending : waiting.status, waiting.traits)
    if waiting.traits.marks.contains(.retracted) || message.traits.marks.contains(.retracted) {
      try transaction.messageFacts.erase(&message, named: id, in: conversation)
    } else {
      try transaction.messageFacts.absorbVersions(of: id, in: conversation, into: &message)
      try absorbOwnFields(of: waiting.traits, named: id, into: &message, in: conversation)
    }
    try transaction.messageFacts.noteFacts(of: id, in: conversation, &message)
    // A message that the local member has read elsewhere comes as read.
    message.traits.marks.formUnion(try transaction.receipts.receiptMarks(of: id, in: conversation))
  }

  /// Merges the own fields of another record, whose facts lie under the message's name already.
  func absorbOwnFields(
    of traits: MessageTraits, named id: MessageID, into message: inout StoredMessage,
    in conversation: UInt32
  ) throws(StoreError) {
    if traits.ownFields.isEmpty, message.traits.ownFields.isEmpty { return }
    message.traits.ownFields.merge(traits.ownFields)
    try transaction.messageFacts.removeUnnamedFields(
      besides: message.traits.ownFields, of: id, in: conversation)
  }
}
