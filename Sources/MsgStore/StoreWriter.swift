/// One write transaction, for the length of one `write`: everything done with it is one commit, or
/// nothing of it is.
///
/// It reads as a snapshot does, and sees its own changes. All functions throw `storage` and
/// `corruptRecord`; after one of these the transaction is rolled back, also when the closure goes on.
/// Everything else that is thrown changes nothing.
public struct StoreWriter: ~Copyable {
  let state: WriteState

  init(_ state: WriteState) { self.state = state }

  /// Makes a conversation, or replaces participants and title of one that is there.
  ///
  /// - Parameters:
  ///   - id: Its name.
  ///   - participants: Who takes part, at most 10,000; who is given twice counts once.
  ///   - title: At most 64 KiB of UTF-8.
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `titleTooLong`.
  public func putConversation(
    _ id: ConversationID, participants: [MemberID], title: String? = nil
  ) throws(StoreError) {
    try state.putConversation(id, participants: participants, title: title)
  }

  /// The oldest conversation with exactly these participants, whatever their order; a new one when
  /// there is none.
  ///
  /// The local member takes part without being named.
  ///
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `noParticipants`.
  public func conversation(with participants: [MemberID]) throws(StoreError) -> Conversation {
    try state.conversation(with: participants)
  }
}

/// Reading, as in a snapshot.
extension StoreWriter {
  /// The messages of a conversation, see `StoreSnapshot.thread(_:)`.
  ///
  /// It shows later changes of this transaction too.
  public func thread(_ id: ConversationID) throws(StoreError) -> Thread {
    try state.reader.thread(id, in: state)
  }

  /// One message by its name, or nil when it is not there.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try state.reader.message(id, in: conversation)
  }

  /// A conversation by its name, or nil when it is not there.
  public func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    try state.change { () throws(StoreError) in
      try state.flush()
      return try state.reader.conversation(id)
    }
  }

  /// Conversations by newest activity, see `StoreSnapshot.conversations(count:after:)`.
  public func conversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try state.change { () throws(StoreError) in
      try state.flush()
      return try state.reader.conversations(count: count, after: position)
    }
  }
}
