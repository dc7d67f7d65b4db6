import MsgStore
import PageFile

/// Rule 5: the totals.
extension StoreCheck {
  func totals(_ view: StoreView) throws(StoreError) {
    var sum = TotalsChange()
    try walk(Schema.conversations, view) { (key, value) throws(StoreError) in
      // A malformed summary is reported with its conversation.
      guard key.count == KeyEncoding.numberByteCount, let summary = ConversationSummary(value)
      else { return }
      sum.replace(Totals(), with: Totals(summary))
    }
    if view.totals() != sum.change {
      report("words: unread totals disagree with the sum over the conversations")
    }
  }
}
