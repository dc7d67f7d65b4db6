import PageFile

/// Merges edits of messages, and the server's answers to local ones.
///
/// See docs/message-format.md, G-4 … G-6.
extension MessageUpdates {
  /// Merges a received edit.
  ///
  /// Returns true if anything changed.
  func receiveEdit(
    of id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID],
    attachments: [MessageAttachment]?, at time: Timestamp, serverName: MessageID?
  ) throws(StoreError) -> Bool {
    try Self.validate(attachments)
    try serverName?.validate()
    try id.validate()
    try conversation.validate()
    try time.validate()
    try ReceivedMessages.validate(text: text)
    try ReceivedMessages.validate(mentions: mentions)
    let conversation = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    let version = TextVersion(
      editTime: time.microseconds, text: text,
      mentions: Array(Set(try transaction.memberNumbers(of: mentions))).sorted(),
      serverName: serverName)
    let list = attachments.map { received in
      (received, kept: KeptAttachments(received.map(\.id), at: time.microseconds))
    }
    switch try view.ids.entry(of: id, in: conversation.number) {
    case .deleted?:
      return false
    case .here(let position)?:
      let old = try flushed().messages.message(at: position, in: conversation.number)
      return try mergeEdit(version, list, into: old, at: position, in: conversation)
    case .alias(let own)?:
      return try waitingEdit(version, list, of: own, in: conversation.number)
    case nil:
      return try waitingEdit(version, list, of: id, in: conversation.number)
    }
  }

  /// The attachments that came with an edit, and the list that they are.
  private typealias List = ([MessageAttachment], kept: KeptAttachments)

  private static func validate(_ attachments: [MessageAttachment]?) throws(StoreError) {
    guard let attachments else { return }
    guard attachments.count <= KeptAttachments.maximumCount else {
      throw .input(
        .tooMany(.attachments, count: attachments.count, limit: KeptAttachments.maximumCount))
    }
    for attachment in attachments { try attachment.validate() }
  }

  /// Merges the attachments of an edit; returns true if a fact beside the record changed.
  private func mergeAttachments(
    _ list: List, _ kept: inout KeptAttachments?, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    kept = KeptAttachments.later(kept, list.kept)
    // A path belongs to this device, so none is received.
    let given = list.0.map { attachment in
      var received = attachment
      received.localPath = nil
      return received
    }
    var isNews = false
    // An attachment that a newer edit has removed is not stored first.
    for (index, attachment) in given.enumerated() where kept?.contains(attachment.id) ?? true {
      let record = AttachmentRecord(attachment, index: UInt32(index))
      if try transaction.messageFacts.mergeAttachment(record, of: id, in: conversation) {
        isNews = true
      }
    }
    return isNews
  }

  private func mergeEdit(
    _ version: TextVersion, _ list: List?, into old: StoredMessage, at position: MessagePosition,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if old.traits.marks.contains(.retracted), !StoreDefect.withdrawnEdited.isPlanted {
      return false
    }
    var new = old
    let id = old.id(at: position)
    var hasNews = try transaction.messageFacts.mergeReceivedVersion(
      version, into: &new, named: id, in: conversation.number,
      isAlone: !old.traits.marks.contains(.versions))
    if let list {
      let isNews = try mergeAttachments(
        list, &new.traits.keptAttachments, of: id, in: conversation.number)
      if isNews || new.traits.keptAttachments != old.traits.keptAttachments {
        try transaction.messageFacts.noteFacts(
          of: id, in: conversation.number, &new, keepsCounts: true)
        hasNews = true
      }
    }
    guard hasNews || new != old else { return false }
    try transaction.messages.replace(old, at: position, with: new, at: position, in: conversation)
    return true
  }

  private func waitingEdit(
    _ version: TextVersion, _ list: List?, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    if try transaction.waitingMessages.waiting(id, in: conversation)?.traits.marks.contains(
      .retracted)
      == true
    {
      return false
    }
    var isNews = try transaction.messageFacts.putVersion(version, of: id, in: conversation)
    var kept = try transaction.waitingMessages.waiting(id, in: conversation)?.traits.keptAttachments
    let known = kept
    if let list, try mergeAttachments(list, &kept, of: id, in: conversation) { isNews = true }
    guard isNews || kept != known else { return false }
    try transaction.waitingMessages.noteWaiting(id, in: conversation) {
      $0.traits.keptAttachments = kept
    }
    return true
  }

  /// Confirms a pending edit, which the server may have taken under a time and an id of its own.
  func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp, serverTime: Timestamp?,
    serverName: MessageID?
  ) throws(StoreError) -> Bool {
    try changePendingEdit(of: id, in: conversation, at: time) {
      (message, own, open) throws(StoreError) in
      let serverTime = serverTime ?? time
      if serverTime == time, serverName == nil { return }
      let version =
        message.traits.editTime == time.microseconds
        ? message.version
        : try view.facts.versions(of: own, in: open.number)
          .first { $0.editTime == time.microseconds }
      guard var version else { return }
      if serverTime != time {
        guard
          try transaction.messageFacts.removeVersion(
            at: time.microseconds, from: &message, named: own, in: open.number)
        else { return }
      }
      version.editTime = serverTime.microseconds
      if let serverName { version.serverName = serverName }
      try transaction.messageFacts.mergeVersion(
        version, into: &message, named: own, in: open.number)
    }
  }

  /// Undoes a pending edit that the server has refused.
  func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    because failure: SendFailure?
  ) throws(StoreError) -> Bool {
    try changePendingEdit(of: id, in: conversation, at: time) {
      (message, own, open) throws(StoreError) in
      if !StoreDefect.refusedEditStays.isPlanted {
        _ = try transaction.messageFacts.removeVersion(
          at: time.microseconds, from: &message, named: own, in: open.number)
      }
      message.traits.sending.failure = failure
    }
  }

  private func changePendingEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    _ body: (inout StoredMessage, MessageID, OpenConversation) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard let open = try transaction.existingConversation(conversation),
      let position = try view.ids.position(of: id, in: open.number)
    else { return false }
    let old = try flushed().messages.message(at: position, in: open.number)
    guard let index = old.traits.pendingEdits.firstIndex(of: time.microseconds) else {
      return false
    }
    var new = old
    new.traits.pendingEdits.remove(at: index)
    try body(&new, old.id(at: position), open)
    try transaction.messages.replace(old, at: position, with: new, at: position, in: open)
    return true
  }
}
