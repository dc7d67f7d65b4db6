import MsgStore
import PageFile

/// Rule 12: the outbox's work in steps.
extension StoreCheck {
  /// Checks the sweeps and releases under way, and notes facts for the other checks.
  func steps(
    _ totals: OutboxTotals, _ recount: inout OutboxRecount, _ view: StoreView
  ) throws(StoreError) {
    let sweeps = try view.outbox.sweeps()
    let releases = try view.outbox.releases()
    if try totals.hasSteps != view.outbox.hasSteps() {
      report("outbox: totals: wrong steps flag")
    }
    for sweep in sweeps {
      let name = "outbox: sweep of conversation \(sweep.conversation)"
      recount.swept.insert(sweep.conversation)
      if sweep.isMerge { recount.merged.insert(sweep.conversation) }
      recount.stopped.insert(sweep.conversation)
      if try isConversation(sweep.conversation, view) {
        report("\(name): the conversation exists")
      }
      guard sweep.target != 0 || sweep.isMerge else { continue }
      recount.stopped.insert(sweep.target)
      if try !isConversation(sweep.target, view) {
        report("\(name): unknown target (conversation \(sweep.target))")
      }
    }
    for (ordinal, release) in releases {
      let name = "outbox: release \(ordinal)"
      if ordinal >= totals.nextLease {
        report("\(name): ordinal is not below the next one (\(totals.nextLease))")
      }
      if release.next > release.end || release.end > totals.nextOrdinal {
        report("\(name): range exceeds its entries")
      }
      guard release.conversation != 0 else { continue }
      recount.stopped.insert(release.conversation)
      if !recount.swept.contains(release.conversation),
        try !isConversation(release.conversation, view)
      {
        report("\(name): unknown conversation (\(release.conversation))")
      }
    }
    for ordinal in try view.outbox.ordinals(KeyEncoding.prefix(OutboxKey.decisionPrefix)) {
      _ = try view.outbox.decision(on: ordinal)
    }
  }

  private func isConversation(
    _ number: UInt32, _ view: StoreView
  ) throws(StoreError) -> Bool {
    return try view.contains(KeyEncoding.key(number), in: Schema.conversations)
  }
}
