import PageFile

/// What a list shows of a conversation's last message.
extension ListReader {
  /// How many deleted messages are passed over in search of one to show.
  private static let deletedCountMax = 100

  func preview(
    _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> Preview? {
    guard var last = summary.last else { return nil }
    if last.isDeleted, view.previewsSkipDeleted {
      last = try lastShown(before: last.position, in: conversation) ?? last
    }
    var (id, status) = (last.position.id, last.status)
    // One's own messages may have a name besides the server's, and others' receipts.
    if last.sender == view.localMember, !last.position.place.isPending {
      (id, status) = try ownMessage(at: last.position, in: conversation)
    }
    return Preview(
      messageID: id, sender: try view.member(last.sender), text: last.isDeleted ? "" : last.text,
      isDeleted: last.isDeleted, attachment: last.attachment,
      serverTimestamp: last.position.place.isPending
        ? nil : Timestamp(microseconds: last.position.place.time),
      status: status)
  }

  /// The last message before a position that was not taken back.
  private func lastShown(
    before position: Position, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last? {
    var limit = position
    for _ in 0..<Self.deletedCountMax {
      guard let position = try view.messages.lastPosition(before: limit, in: conversation) else {
        return nil
      }
      let message = try view.messages.message(at: position, in: conversation)
      if !message.traits.isWithdrawn {
        var last = try view.messages.last(message, at: position, in: conversation)
        last.text = Preview.cut(last.text)
        return last
      }
      limit = position
    }
    return nil
  }

  private func ownMessage(
    at position: Position, in conversation: UInt32
  ) throws(StoreError) -> (MessageID, MessageStatus) {
    var scan = try ThreadScan(view, conversation, from: position)
    guard let record = try scan.next(), try scan.position() == position else {
      throw view.corrupt(Schema.conversations, "the last message of \(conversation) is not there")
    }
    var marks = DeliveryMarks(view, conversation)
    let id = record.traits()?.names.first ?? position.id
    return (id, try marks.effectiveStatus(record, at: position))
  }
}
