import PageFile

/// A conversation's summary while transactions change it.
package final class OpenConversation {
  package let number: UInt32
  /// The name of the conversation; nil if it has not been looked up.
  var id: ConversationID?
  var summary: ConversationSummary {
    didSet { isChanged = true }
  }
  /// The number of messages added since the conversation was last checked for messages to pack.
  var placedCount = 0
  /// The position of one of these messages that got a cell of its own and is not known to be the
  /// last.
  var latePosition: MessagePosition?
  /// Those of these messages whose records are not written yet.
  var unwritten: UnwrittenMessages.Thread?
  /// True if the summary differs from the stored one.
  private(set) var isChanged: Bool
  /// The place of the conversation in the activity tree; nil if it is not listed.
  private(set) var listed: ListPlace?
  /// The part of the store's totals that comes from the conversation.
  private(set) var counted: Totals
  /// The stored size of the summary in bytes.
  private(set) var storedByteCount: Int
  /// The local member's side of receipts; nil until it is read.
  var receipts: ConversationReceipts?
  /// True if that side differs from the stored one.
  var hasUnwrittenReceipts = false
  /// The participants other than the local member; nil until they are looked up.
  ///
  /// Set by `WriterMemory`.
  var others: [Recipient]?
  /// True if the local member has left; nil until it is looked up.
  var hasLeft: Bool?
  /// An upper bound for the message names in the ids tree; nil if it has not been looked up.
  var greatestName: MessageID?
  /// An upper bound for the places of acknowledged messages; nil if it has not been looked up.
  var greatestPosition: MessagePosition?
  /// True if the transaction has met the conversation, see `WriterMemory`.
  var isTouched = false
  /// The age of the memory when a transaction last met the conversation.
  var lastUse: UInt64 = 0

  /// True if the conversation may have pending messages: it has given out a local order.
  var mayHavePending: Bool { summary.nextLocalOrder > 0 }

  /// Notes a name that is added to the ids tree.
  func raiseGreatestName(to id: MessageID) {
    if let known = greatestName, known < id { greatestName = id }
  }

  /// Notes that a message is stored at a place.
  func raiseGreatestPosition(to position: MessagePosition) {
    if let known = greatestPosition, known < position, !position.place.isPending {
      greatestPosition = position
    }
  }

  @inline(never)
  init(
    _ number: UInt32, _ summary: ConversationSummary, isStored: Bool, byteCount: Int = 0
  ) {
    self.number = number
    storedByteCount = byteCount
    self.summary = summary
    listed = isStored ? summary.listPlace : nil
    counted = isStored ? Totals(summary) : Totals()
    isChanged = !isStored
  }

  /// Brings a deleted conversation back to the lists, because something newer than its deletion
  /// came.
  func reveal() {
    if summary.marks.contains(.hidden) { summary.marks.remove(.hidden) }
  }

  /// Hides the conversation if no message is left in it.
  func hideIfEmpty() {
    if summary.messageCount == 0 { summary.marks.insert(.hidden) }
  }

  func wasWritten(byteCount: Int) {
    isChanged = false
    storedByteCount = byteCount
    listed = summary.listPlace
    counted = Totals(summary)
  }
}
