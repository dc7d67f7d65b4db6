package import PageFile

/// Work that is done in steps, with one commit each.
///
/// So no deletion, however long the thread, delays other writers or lets the log grow without
/// bound. A step ends after a bounded amount of work, or when it has held the writer long enough
/// for a user who sends a message to notice.
///
/// See docs/message-format.md, Y-1 … Y-3.
package struct Steps: TransactionPart {
  package let transaction: Transaction

  /// True if there is work left.
  var hasWork: Bool {
    get throws(StoreError) {
      if transaction.outboxTotals.hasSteps { return true }
      if try transaction.expiring.hasWork { return true }
      return try view.work.hasStoreWork
    }
  }

  /// Performs a part of the oldest work; that of the outbox goes first, because others wait for it.
  ///
  /// - Parameter isTimed: True if the step ends once it has held the writer long enough.
  func step(isTimed: Bool = true) throws(StoreError) {
    transaction.hasStepped = true
    if isTimed { transaction.beginStep() }
    if transaction.outboxTotals.hasSteps {
      return try transaction.outboxSweeps.stepOutbox()
    }
    // Somebody relies on it that what has expired is gone.
    if try transaction.expiring.step() { return }
    guard let (ordinal, work) = try view.work.first() else { return }
    let isDone: Bool
    switch work.kind {
    case .sweep:
      isDone = try transaction.deletions.sweep(work.conversation)
    case .trim(let time):
      isDone = try transaction.deletions.trim(work.conversation, upTo: time)
    case .merge(let target, let summary):
      isDone = try transaction.moves.moveMessages(of: work.conversation, summary, into: target)
    case .prune(let progress):
      isDone = try transaction.pruning.prune(work, progress, at: ordinal)
    }
    guard isDone else { return }
    try transaction.workQueue.remove(at: ordinal)
  }

  /// False if a step has changed no page and says that work is due at once.
  ///
  /// The next step would find and do the same, for ever. One kind of step gets ahead without a
  /// changed page: it passes over expired messages on their way, and only the writer's memory tells
  /// how far it has come.
  private var areGettingAhead: Bool {
    if !transaction.hasStepped || transaction.hasPassedOver || view.source.hasChanges {
      return true
    }
    return (try? transaction.change { () throws(StoreError) in try hasWork }) != true
  }

  /// Stops a build with assertions if the steps would go on for ever.
  func assertProgress() {
    assert(areGettingAhead, "step: changed nothing, and says that work is due at once")
  }
}

extension Schema {
  /// The trees whose keys begin with a conversation's number.
  package static let treesByConversation = [
    messages, beside, ids, facts, client, index, conversations, retention,
  ]
}

extension Transaction {
  var steps: Steps { Steps(transaction: self) }
}
