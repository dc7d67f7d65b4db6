// The parts of a transaction and its memory that the tools read and change.
//
// Stored properties of these classes stay internal, and the tools get computed ones: Swift checks
// each access to a stored property that another module can name, at run time, for exclusivity. That
// cost an import five percent.

extension OpenConversation {
  package var currentSummary: ConversationSummary {
    get { summary }
    set { summary = newValue }
  }
  package var hasUnwrittenSummary: Bool { isChanged }
  package var knownReceipts: ConversationReceipts? { receipts }
  package var knownRecipients: [Recipient]? { others }
  package var knownGreatestName: MessageID? { greatestName }
  package var knownName: ConversationID? { id }
  package var isKnownToHaveLeft: Bool? { hasLeft }
}

extension Transaction {
  /// Notes that the transaction makes the store larger, see `hasAdded`.
  package func noteAddition() { hasAdded = true }

  /// Tells listeners that any message of a conversation may have been delivered or read.
  package func noteDeliveries(in conversation: OpenConversation) {
    guard hasListeners else { return }
    notes.delivered(between: .start, and: .end, in: conversation.number)
  }
}

extension WriterMemory {
  package var knownConversations: [OpenConversation] { Array(conversations.values) }
  package var knownNumbers: [ConversationID: UInt32] { numbers.conversations }
  package var knownLane: (conversation: UInt32, lane: OutboxLane)? { lane }
  package var knownSparedMessages: SparedMessages? { sparedMessages }
  /// The number of the dictionary that segments are packed with; 0: it could not be read.
  package var packingDictionary: UInt32? { encoder?.dictionary }
}

extension StoreView {
  /// The expired messages that this view passes over.
  package var hiddenMessages: Hiding { hiding }
  package var localMemberNumber: UInt32? {
    get { localMember }
    set { localMember = newValue }
  }
}
