import PageFile

/// Keeps the totals of unread messages and mentions, and other counts in the settings tree.
struct StoreTotals: TransactionPart {
  let transaction: Transaction

  /// Adds the changes of this transaction to the stored totals.
  func writeTotals() throws(StoreError) {
    let change = transaction.totals.take()
    guard change != Totals() else { return }
    let old = if let known = memory.totals { known } else { try view.totals() }
    let new = old.adding(change)
    memory.totals = nil
    if transaction.hasListeners && new != old { transaction.notes.hasCounterChanges = true }
    try set(.unread, to: new.unread, from: old.unread)
    try set(.unreadMuted, to: new.unreadMuted, from: old.unreadMuted)
    try set(.mentions, to: new.mentions, from: old.mentions)
    try set(.mentionsMuted, to: new.mentionsMuted, from: old.mentionsMuted)
    memory.totals = new
  }

  private func set(_ setting: Setting, to new: Int, from old: Int) throws(StoreError) {
    if new != old { try view.source.set(setting, to: UInt64(new)) }
  }

  /// Adds to a stored count, which never drops below zero.
  func add(_ change: Int, to setting: Setting) throws(StoreError) {
    guard change != 0 else { return }
    transaction.noteSettingChange()
    let sum = Totals.sum(try view.count(setting), change)
    try view.source.set(setting, to: UInt64(sum))
  }
}

extension Transaction {
  var storeTotals: StoreTotals { StoreTotals(transaction: self) }
}
