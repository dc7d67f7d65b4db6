package import MsgStore

/// What is done in one transaction, and around it.
package struct RandomTransaction: CustomStringConvertible {
  /// Of which conversation it is asked what has to be told, before.
  package var asked: (ConversationID, ReceiptKind, PendingReceipt.Form)
  package var acts: [RandomAct]
  let steps: (any OutboxSteps)?
  package var finishesWork: Bool
  /// Whether the store gets another dictionary and is compacted before.
  package var compacts: Bool
  /// Whether the store is closed and opened again before.
  package var reopens: Bool
  /// Whether the clock is set back before.
  package var setsClockBack = false

  /// Does all of it to a store.
  ///
  /// - Returns: The acts' outcomes.
  @discardableResult
  package func run(on store: MessageStore) throws -> [RandomAct.Outcome] {
    let pending = try store.read { chat throws(StoreError) in
      try steps?.pendingReceipts(in: asked.0, asked.1, as: asked.2, of: chat) ?? []
    }
    var outcomes: [RandomAct.Outcome] = []
    try store.write(.relaxed) { writer in
      outcomes.removeAll()
      for act in acts { outcomes.append(try act.attempt(writer, pending)) }
    }
    if finishesWork { try store.finishWork() }
    return outcomes
  }

  package var description: String {
    let asks = acts.contains(where: \.confirms) ? "\(asked): " : ""
    return (compacts ? "compact; " : "") + (reopens ? "reopen; " : "") + asks
      + acts.map(\.name).joined(separator: "; ")
      + (finishesWork ? "; finishWork" : "")
  }
}
