import PageFile

/// Previews of the last message of a conversation, as a list shows them.
extension ListReader {
  /// The maximum number of retracted messages that are skipped in search of one to show.
  private static let maximumDeletedCount = 100

  func preview(
    _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> ConversationPreview? {
    guard let last = summary.last else { return nil }
    if !view.hiding.isCounted, !(last.isRetracted && view.previewsSkipRetracted) {
      return try preview(of: last, in: conversation)
    }
    return try shown(last, in: conversation).map { (shown) throws(StoreError) in
      try preview(of: shown, in: conversation)
    }
  }

  /// Returns the last message that a preview shows, given the last one of the summary.
  @inline(never)
  private func shown(
    _ stored: ConversationSummary.Last, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last? {
    var last = stored
    if view.hiding.isCounted,
      try !view.messages.hasMessage(at: last.position, in: conversation)
    {
      // The step that lets expired messages go has not come to this one.
      guard let shown = try lastUnexpired(in: conversation) else { return nil }
      last = shown
    }
    if last.isRetracted, view.previewsSkipRetracted {
      last = try lastShown(before: last.position, in: conversation) ?? last
    }
    return last
  }

  private func preview(
    of last: ConversationSummary.Last, in conversation: UInt32
  ) throws(StoreError) -> ConversationPreview {
    var (id, status) = (last.position.id, last.status)
    // An own message may have a name besides the server's, and receipts of others.
    if last.sender == view.localMember, !last.position.place.isPending {
      if last.needsRecord {
        (id, status) = try ownMessage(at: last.position, in: conversation)
      } else if DeliveryMarks.concern(status, from: last.sender, localMember: view.localMember) {
        var marks = DeliveryMarks(view, conversation)
        status = try marks.effectiveStatus(
          status, from: last.sender, at: last.position.place, id: id, exactly: nil)
      }
    }
    return ConversationPreview(
      messageID: id, sender: try view.member(last.sender), text: last.isRetracted ? "" : last.text,
      isRetracted: last.isRetracted, attachment: last.attachment,
      serverTimestamp: last.position.place.isPending
        ? nil : Timestamp(microseconds: last.position.place.time),
      status: status)
  }

  /// Returns the last message before a position that was not retracted.
  private func lastShown(
    before position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last? {
    var limit = position
    for _ in 0..<Self.maximumDeletedCount {
      guard let position = try view.messages.lastPosition(before: limit, in: conversation) else {
        return nil
      }
      let message = try view.messages.message(at: position, in: conversation)
      if !message.traits.isRetracted {
        var last = try view.messages.last(message, at: position, in: conversation)
        last.text = ConversationPreview.cut(last.text)
        return last
      }
      limit = position
    }
    return nil
  }

  /// Returns the last message that is not hidden, as the summary would have it.
  private func lastUnexpired(
    in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last? {
    let newest = try view.messages.lastCounted(before: .firstPending, in: conversation)
    guard let position = try view.messages.lastShown(newest: newest, in: conversation) else {
      return nil
    }
    let message = try view.messages.message(at: position, in: conversation)
    var last = try view.messages.last(message, at: position, in: conversation)
    last.text = ConversationPreview.cut(last.text)
    return last
  }

  private func ownMessage(
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> (MessageID, MessageStatus) {
    var scan = try ThreadScan(view, conversation, from: position)
    guard let record = try scan.next(), try scan.position() == position else {
      throw view.corrupt(Schema.conversations, "conversation \(conversation): last message missing")
    }
    var marks = DeliveryMarks(view, conversation)
    let id = record.traits()?.names.first ?? position.id
    return (id, try marks.effectiveStatus(record, at: position))
  }
}
