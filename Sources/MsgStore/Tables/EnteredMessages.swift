import PageFile

/// The messages of a store that are entered into the indexes which follow from them.
///
/// Messages of an older store are entered in steps: conversations by descending numbers, each from
/// its newest message back. See docs/message-format.md, F-16.
package enum EnteredMessages: Equatable, Sendable {
  case all
  /// The messages of conversations above a number, and in that one from a position on.
  case from(conversation: UInt32, MessagePosition)

  /// No message, as in an older store that has never been opened for writing.
  static let none = EnteredMessages.from(conversation: .max, .end)

  /// Returns true if a message at a position is entered.
  package func covers(_ position: MessagePosition, in conversation: UInt32) -> Bool {
    guard case .from(let number, let first) = self else { return true }
    return conversation == number ? position >= first : conversation > number
  }

  /// Returns the position from which on the messages of a conversation are entered; nil if all are.
  func start(in conversation: UInt32) -> MessagePosition? {
    guard case .from(let number, let first) = self, conversation <= number else { return nil }
    return conversation == number ? first : .end
  }
}

extension MessagePosition {
  /// The position before every message that a conversation may have, in the form of a stored one.
  static let beforeAll = MessagePosition(.acknowledged(.min, sequence: .min), "")
}

extension WorkReader {
  /// Returns the messages that are entered into the indexes which follow from them.
  ///
  /// Costs two lookups.
  package func enteredMessages() throws(StoreError) -> EnteredMessages {
    if let work: WorkRecord = try view.record(WorkRecord.key(WorkRecord.enteringOrdinal)) {
      guard case .enter(let first) = work.kind else {
        throw view.corrupt(Schema.work, "ordinal of the entering: other work")
      }
      return .from(conversation: work.conversation, first)
    }
    // An older store has no such work before it is first opened for writing.
    let version = try view.source.value(of: .schemaVersion) ?? Schema.version
    return version < Schema.versionWithIndexes ? .none : .all
  }
}
