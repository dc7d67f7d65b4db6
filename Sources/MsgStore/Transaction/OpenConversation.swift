import PageFile

/// A conversation's summary while transactions change it.
package final class OpenConversation {
  package let number: UInt32
  /// Its name; nil: nobody has looked.
  var id: ConversationID?
  var summary: ConversationSummary {
    didSet { isChanged = true }
  }
  /// How many messages have come to it since it was last looked what has settled.
  var placedCount = 0
  /// Where one of them has come to a cell of its own, not known to be the last.
  var latePosition: Position?
  /// Those of them whose records wait to be written.
  var unwritten: UnwrittenMessages.Thread?
  /// Whether the summary differs from what the trees have.
  private(set) var isChanged: Bool
  /// Where the activity tree has it, nil when it has it not.
  private(set) var listed: ListPlace?
  /// What the totals have of it.
  private(set) var counted: Totals
  /// How many bytes the summary takes in its tree.
  private(set) var storedByteCount: Int
  /// Its own side of receipts, once it was read: as the trees have it.
  var receipts: ConversationReceipts?
  /// Who takes part beside the local member, once it was asked for; set by `WriterMemory`.
  var others: [Recipient]?
  /// No name of a message that the ids tree has is greater; nil: nobody has looked.
  var greatestName: MessageID?
  /// Whether the transaction has met it, see `WriterMemory`.
  var isTouched = false

  /// Notes a name that the ids tree gets.
  func raiseGreatestName(to id: MessageID) {
    if let known = greatestName, known < id { greatestName = id }
  }

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

  /// Brings a deleted conversation back to the lists, for something newer than its deletion.
  func reveal() {
    if summary.marks.contains(.hidden) { summary.marks.remove(.hidden) }
  }

  func wasWritten(byteCount: Int) {
    isChanged = false
    storedByteCount = byteCount
    listed = summary.listPlace
    counted = Totals(summary)
  }
}
