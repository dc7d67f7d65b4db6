import MsgStore

/// A message, and the facts that wait for a message not present.
extension ExportedMessage: JSONObjectValue {
  static var noun: String { "a message" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("id", &id)
    try fields.required("sender", &sender)
    try fields.required("text", &text)
    try fields.nullable("timestamp_ms", &serverTimestamp)
    try fields.optional("sequence", &sequence)
    try fields.optional("local_ms", &localTime)
    try fields.optional("status", &status)
    try fields.optional("reply_to", &replyTo)
    try fields.optional("edited_ms", &editedAt)
    try fields.optional("edit_server_name", &editServerName)
    try fields.list("mentions", &mentions)
    try fields.list("history", &facts.history)
    try fields.flag("deleted", &isRetracted)
    try fields.optional("deleted_ms", &retractedAt)
    try fields.flag("hidden", &isHidden)
    try fields.optional("delivered_ms", &deliveredAt)
    try fields.optional("read_ms", &readAt)
    try fields.optional("retry_count", &retryCount, assumed: 0)
    try fields.optional("retry_ms", &retryAt)
    try fields.optional("failure", &failure)
    try fields.list("attachments", &facts.attachments)
    try fields.optional("attachments_ms", &attachmentsAt)
    try fields.list("kept_attachments", &keptAttachments)
    try fields.list("pending_edits_ms", &pendingEdits)
    try fields.optional("server_name", &serverName)
    try fields.list("aliases", &aliases)
    try fields.optional("revision", &revision, assumed: 0)
    try fields.optional("sequenced_ms", &sequencedAt)
    try fields.optional("composed", &isComposed)
    try fields.optional("arrival", &arrival)
    try fields.flag("late", &isLate)
    try fields.flag("seen", &isSeen)
    try fields.list("receipts", &facts.receipts)
    try fields.list("waiting_marks", &facts.waitingMarks)
    try fields.ownFields(&own)
    try fields.list("tags", &facts.tags)
    try fields.optional("expires_ms", &expiresAt)
  }
}

extension ExportedWaiting: JSONObjectValue {
  static var noun: String { "a waiting message" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("id", &id)
    try fields.optional("timestamp_ms", &serverTimestamp)
    try fields.optional("sequence", &sequence)
    try fields.optional("status", &status, assumed: .pending)
    try fields.list("history", &facts.history)
    try fields.flag("deleted", &isRetracted)
    try fields.optional("deleted_ms", &retractedAt)
    try fields.optional("delivered_ms", &deliveredAt)
    try fields.optional("read_ms", &readAt)
    try fields.list("attachments", &facts.attachments)
    try fields.optional("attachments_ms", &attachmentsAt)
    try fields.list("kept_attachments", &keptAttachments)
    try fields.list("aliases", &aliases)
    try fields.optional("revision", &revision, assumed: 0)
    try fields.optional("sequenced_ms", &sequencedAt)
    try fields.flag("seen", &isSeen)
    try fields.list("receipts", &facts.receipts)
    try fields.list("waiting_marks", &facts.waitingMarks)
    try fields.ownFields(&own)
    try fields.list("tags", &facts.tags)
    try fields.optional("expires_ms", &expiresAt)
  }
}

/// Reactions have lines of their own, behind the message's, and so has what makes it too long.
extension ExportedMessage {
  package func forEachRecord<Failure: Error>(
    _ body: (JSONRecord) throws(Failure) -> Void
  ) throws(Failure) {
    var line = self
    let rest = line.facts.split()
    try body(.message(line))
    try rest.forEachRecord(of: id, in: conversation, body)
  }
}

extension ExportedWaiting {
  package func forEachRecord<Failure: Error>(
    _ body: (JSONRecord) throws(Failure) -> Void
  ) throws(Failure) {
    var line = self
    let rest = line.facts.split()
    try body(.waiting(line))
    try rest.forEachRecord(of: id, in: conversation, body)
  }
}

/// An earlier text of a message, or a later one that its sender has not been granted.
extension ExportedVersion: JSONObjectValue {
  static var noun: String { "a version" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("text", &text)
    try fields.optional("edited_ms", &editedAt)
    try fields.list("mentions", &mentions)
    try fields.optional("server_name", &serverName)
  }
}
