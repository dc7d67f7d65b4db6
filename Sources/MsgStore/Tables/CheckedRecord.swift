import PageFile

/// A record that is what it was when it is read again, which a debug build looks at whenever one is
/// written.
protocol CheckedRecord: Equatable {
  /// Reads a record; nil when the bytes are none.
  init?(_ bytes: Bytes)
  /// Writes the record.
  func append(to buffer: inout ByteBuffer)
}

extension CheckedRecord {
  /// Writes the record, and asserts that it can be read.
  func appendChecked(to buffer: inout ByteBuffer) {
    let start = buffer.count
    append(to: &buffer)
    assert(Self(buffer.bytes.dropFirst(start)) == self, "\(Self.self): not what was written")
  }
}

extension StoredMessage {
  /// The same for the record of a message, which depends on its place.
  func appendChecked(at place: Place, to buffer: inout ByteBuffer) {
    let start = buffer.count
    append(at: place, to: &buffer)
    assert(
      MessageRecord(buffer.bytes.dropFirst(start)).flatMap { StoredMessage($0, at: place) } == self,
      "a message is not what was written")
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
