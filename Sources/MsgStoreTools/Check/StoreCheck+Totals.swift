import MsgStore
import PageFile

/// Rule 5.
extension StoreCheck {
  func totals(_ view: StoreView) throws(StoreError) {
    var sum = TotalsChange()
    try walk(Schema.conversations, view) { (key, value) throws(StoreError) in
      // What is no summary is reported with its conversation.
      guard key.count == KeyEncoding.numberByteCount, let summary = ConversationSummary(value)
      else { return }
      sum.replace(Totals(), with: Totals(summary))
    }
    let totals = try view.within { () throws(StoreError) in try view.totals() }
    if totals != sum.change {
      report("the totals of unread messages are not the sum over the conversations")
    }
  }
}
