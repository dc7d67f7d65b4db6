package import PageFile

/// Work that is done in steps, one commit each: so that no deletion, however long the thread, makes
/// others wait or the log grow without bound.
///
/// A step ends when it has done so much, or has held the writer for so long that whoever sends a message
/// would notice.
///
/// See docs/message-format.md, Y-1 … Y-3.
package struct Steps: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Whether there is work left.
  var hasWork: Bool {
    get throws(StoreError) {
      if try transaction.outboxTotals.hasSteps { return true }
      return try view.work.hasStoreWork
    }
  }

  /// Does a part of the oldest piece of work, after that of the outbox, which others wait for.
  ///
  /// - Parameter isTimed: Whether it ends when it has held the writer long enough.
  func step(isTimed: Bool = true) throws(StoreError) {
    if isTimed { transaction.beginStep() }
    if try transaction.outboxTotals.hasSteps {
      return try transaction.outboxSweeps.stepOutbox()
    }
    guard let (ordinal, work) = try view.work.work().first else { return }
    let isDone: Bool
    switch work.kind {
    case .sweep:
      isDone = try transaction.deletions.sweep(work.conversation)
    case .trim(let time):
      isDone = try transaction.deletions.trim(work.conversation, upTo: time)
    case .merge(let target, let summary):
      isDone = try transaction.moves.moveMessages(of: work.conversation, summary, into: target)
    }
    guard isDone else { return }
    let key = WorkRecord.key(ordinal)
    try transaction.remove(key.bytes, in: Schema.work)
  }
}

extension Schema {
  /// The trees whose keys begin with the number of a conversation, but for that of conversations.
  package static let treesByConversation = [messages, ids, facts, receipts, sequences, client]
}

extension Transaction {
  var steps: Steps { Steps(self) }
}
