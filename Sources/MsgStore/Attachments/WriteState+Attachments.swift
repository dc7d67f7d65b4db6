import PageFile

/// Attachments of messages, among the facts.
///
/// See docs/message-format.md, F-10.
///
///     key    … 0x03, bytes of the attachment's id
///     value  the record
extension WriteState {
  /// Merges what was received of a message's attachments into what is known.
  ///
  /// Returns whether that is news.
  func merge(
    _ attachments: [Attachment], of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var isNews = false
    for (index, attachment) in attachments.enumerated() {
      let record = AttachmentRecord(attachment, index: UInt32(index))
      if try merge(record, of: id, in: conversation) { isNews = true }
    }
    return isNews
  }

  /// Merges a record into what is stored of the same attachment.
  func merge(
    _ given: AttachmentRecord, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var key = FactKey.prefix(conversation, id, .attachment)
    key.append(given.attachment.id)
    var record = given
    if let old = try reader.attachmentRecord(key.bytes) {
      record = old
      record.attachment = old.attachment.merged(with: given.attachment)
      record.index = min(old.index, given.index)
      if record == old { return false }
    }
    hasAdded = true
    try write(record, key.bytes)
    return true
  }

  func write(_ record: AttachmentRecord, _ key: Bytes) throws(StoreError) {
    var value = ByteBuffer(capacity: 256)
    record.append(to: &value)
    try insert(key, value.bytes, in: Schema.facts)
  }
}

extension StoreReader {
  /// The attachments of a message in their order.
  func attachments(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [Attachment] {
    try attachmentRecords(of: id, in: conversation).map(\.attachment)
  }

  /// What is stored of the attachments of a message, in their order.
  func attachmentRecords(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [AttachmentRecord] {
    var records: [AttachmentRecord] = []
    let prefix = FactKey.prefix(conversation, id, .attachment)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let record = AttachmentRecord(value) else {
        throw corrupt(Schema.facts, "an attachment of message \"\(id)\" is no record")
      }
      records.append(record)
    }
    // The keys have the order of the ids, which decides among equal indices.
    records.sort { $0.index < $1.index }
    return records
  }

  func attachmentRecord(_ key: Bytes) throws(StoreError) -> AttachmentRecord? {
    var value = ByteBuffer()
    guard try self.value(of: key, in: Schema.facts, appendTo: &value) else { return nil }
    guard let record = AttachmentRecord(value.bytes) else {
      throw corrupt(Schema.facts, "an attachment is no record")
    }
    return record
  }
}

extension Attachment {
  func validate() throws(StoreError) {
    if let problem = storageProblem { throw .invalidAttachment(problem) }
  }
}
