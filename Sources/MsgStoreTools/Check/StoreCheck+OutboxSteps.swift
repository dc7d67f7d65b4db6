import MsgStore
import PageFile

/// Of rule 12, what the outbox does in steps.
extension StoreCheck {
  /// Looks at what is under way, and notes what the other parts need to know of it.
  func steps(
    _ totals: OutboxTotals, _ recount: inout OutboxRecount, _ view: StoreView
  ) throws(StoreError) {
    let sweeps = try view.outbox.sweeps()
    let releases = try view.outbox.releases()
    if try totals.hasSteps != view.outbox.hasSteps() {
      report("outbox: the totals say wrongly whether something is done in steps")
    }
    for sweep in sweeps {
      let name = "outbox: what is left of conversation \(sweep.conversation)"
      recount.swept.insert(sweep.conversation)
      recount.stopped.insert(sweep.conversation)
      if try isConversation(sweep.conversation, view) {
        report("\(name) is swept, and the conversation is there")
      }
      guard sweep.target != 0 else { continue }
      recount.stopped.insert(sweep.target)
      if try !isConversation(sweep.target, view) {
        report("\(name): unknown target (conversation \(sweep.target))")
      }
    }
    for (ordinal, release) in releases {
      let name = "outbox: release \(ordinal)"
      if ordinal >= totals.nextLease {
        report("\(name) is not below \(totals.nextLease)")
      }
      if release.next > release.end || release.end > totals.nextOrdinal {
        report("\(name) goes beyond the entries that it is about")
      }
      guard release.conversation != 0 else { continue }
      recount.stopped.insert(release.conversation)
      if try !isConversation(release.conversation, view) {
        report("\(name): unknown conversation (\(release.conversation))")
      }
    }
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.decisionPrefix)
    for ordinal in try view.outbox.ordinals(prefix) {
      _ = try view.outbox.decision(on: ordinal)
    }
  }

  private func isConversation(
    _ number: UInt32, _ view: StoreView
  ) throws(StoreError) -> Bool {
    let key = KeyEncoding.key(number)
    return try contains(key.bytes, Schema.conversations, view)
  }
}
