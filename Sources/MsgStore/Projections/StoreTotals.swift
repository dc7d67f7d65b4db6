/// The totals of unread messages and mentions, and other counts of the store as a whole.
extension Transaction {
  /// Adds the changes of this transaction to the stored totals.
  func writeTotals() {
    let change = totals.take()
    guard change != Totals() else { return }
    let old = view.totals()
    let new = old.adding(change)
    if hasListeners && new != old { notes.hasCounterChanges = true }
    view.source[.unread] = UInt64(new.unread)
    view.source[.unreadMuted] = UInt64(new.unreadMuted)
    view.source[.mentions] = UInt64(new.mentions)
    view.source[.mentionsMuted] = UInt64(new.mentionsMuted)
  }

  /// Adds to a stored count, which never drops below zero.
  func add(_ change: Int, to word: StoreWord) {
    guard change != 0 else { return }
    noteSettingChange()
    view.source[word] = UInt64(Totals.sum(view.source.count(word), change))
  }
}
