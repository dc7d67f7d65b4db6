import PageFile

/// A record whose encoding is verified in debug builds: each written record is decoded again and
/// compared.
protocol CheckedRecord: Equatable {
  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid one.
  init?(_ bytes: Bytes)
  /// Appends the record.
  func append(to buffer: inout ByteBuffer)
}

extension CheckedRecord {
  /// Appends the record and asserts that it decodes to the same value.
  func appendChecked(to buffer: inout ByteBuffer) {
    let start = buffer.count
    append(to: &buffer)
    assert(
      Self(buffer.bytes.dropFirst(start)) == self,
      "\(Self.self): decoded record differs from the written one")
  }
}

extension StoredMessage {
  /// Appends the record of a message, which depends on its place, and asserts that it decodes to
  /// the same value.
  func appendChecked(at place: Place, to buffer: inout ByteBuffer) {
    let start = buffer.count
    append(at: place, to: &buffer)
    assert(
      MessageRecord(buffer.bytes.dropFirst(start)).flatMap { StoredMessage($0, at: place) } == self,
      "StoredMessage: decoded record differs from the written one")
  }
}

extension ConversationDetails: CheckedRecord {}

extension ConversationMembers: CheckedRecord {}

extension ReceiptRecord: CheckedRecord {}

extension ConversationReceipts: CheckedRecord {}

extension ExactReceipt: CheckedRecord {}

extension WaitingFacts: CheckedRecord {}

extension OutboxRecord: CheckedRecord {}

extension OutboxLane: CheckedRecord {}

extension OutboxTotals: CheckedRecord {}

extension WorkRecord: CheckedRecord {}

extension AttachmentRecord: CheckedRecord {}

extension ReactionRecord: CheckedRecord {}
