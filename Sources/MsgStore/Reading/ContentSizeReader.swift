import PageFile

/// A reader of the bytes of texts and attachments of one conversation.
struct ContentSizeReader {
  let view: StoreView

  /// The number of messages that are read in one operation.
  private static let batchCount = 500

  /// Adds the sizes of some messages from a position on; returns the position of the next one, or
  /// nil after the last.
  ///
  /// Decodes no text. Facts are read of messages that have attachments only.
  func add(
    from start: MessagePosition, in conversation: UInt32, to sizes: inout ContentSizes
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(view, conversation, from: start)
    var count = 0
    while let record = try scan.next() {
      if count == Self.batchCount { return try scan.position() }
      count += 1
      sizes.messageCount += 1
      let marks = record.marks
      // Readers are shown neither text nor attachments of a retracted message.
      if !marks.isDisjoint(with: [.retracted, .hidden]) { continue }
      sizes.textByteCount += record.textByteCount
      guard marks.contains(.attachments) else { continue }
      let position = try scan.position()
      let id = try view.messages.message(at: position, in: conversation).id(at: position)
      for attachment in try view.facts.attachments(of: id, in: conversation) {
        sizes.attachments[attachment.kind, default: ContentSizes.AttachmentSizes()].add(attachment)
      }
    }
    return nil
  }
}

extension StoreView {
  var contentSizes: ContentSizeReader { ContentSizeReader(view: self) }
}
