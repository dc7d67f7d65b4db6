import PageFile

/// The facts of messages that are not here yet.
///
/// Waiting facts lie in the facts tree under the message's name, like those of stored messages. The
/// index tree has the names in the order in which they began to wait. Their number is limited; the
/// oldest are dropped to make room, and counted.
///
/// See docs/message-format.md, F-6 … F-9.
package struct WaitingMessages: TransactionPart {
  package let transaction: Transaction

  /// Notes that something is known of a message that is not here, and changes its waiting facts.
  ///
  /// Returns true if anything changed.
  @discardableResult
  package func noteWaiting(
    _ id: MessageID, in conversation: UInt32,
    _ change: (inout WaitingFacts) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) -> Bool {
    let old = try waiting(id, in: conversation)
    var new: WaitingFacts
    if let old {
      new = old
    } else {
      transaction.hasAdded = true
      let ordinal = view.source[.nextWaiting]
      view.source[.nextWaiting] = ordinal &+ 1
      try transaction.update(WaitingKey.self, from: nil, to: (ordinal, conversation, id))
      transaction.add(1, to: .waitingCount)
      new = WaitingFacts(ordinal: ordinal)
    }
    try change(&new)
    if !new.traits.ownFields.isEmpty || new.traits.marks.contains(.retracted) {
      try transaction.messageFacts.removeUnnamedFields(
        besides: new.traits.ownFields, of: id, in: conversation)
    }
    guard new != old else { return false }
    try transaction.put(new, at: FactKey.prefix(conversation, id, .waiting))
    if old == nil { try dropOldestWaiting() }
    return true
  }

  /// Returns true if facts wait for any message that is not here.
  var hasWaiting: Bool { view.source[.waitingCount] > 0 }

  /// Returns the facts that wait for a message, or nil if nothing waits for it.
  @inline(never)
  package func waiting(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> WaitingFacts? {
    guard hasWaiting else { return nil }
    let key = FactKey.prefix(conversation, id, .waiting)
    return try view.record(key)
  }

  /// Removes and returns the waiting facts of a message that has come.
  @inline(never)
  package func takeWaiting(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> WaitingFacts? {
    guard let waiting = try waiting(id, in: conversation) else { return nil }
    try transaction.remove(FactKey.prefix(conversation, id, .waiting), in: Schema.facts)
    try transaction.update(WaitingKey.self, from: (waiting.ordinal, conversation, id), to: nil)
    if !StoreDefect.waitingCountKept.isPlanted {
      transaction.add(-1, to: .waitingCount)
    }
    return waiting
  }

  /// Drops the facts that have waited longest if the limit is exceeded.
  private func dropOldestWaiting() throws(StoreError) {
    guard view.source.count(.waitingCount) > rules.maximumWaitingCount else { return }
    let prefix = WaitingKey.prefix
    var key = ByteBuffer()
    guard try view.firstKey(prefix.bytes, in: Schema.index, to: &key) else { return }
    guard let oldest = WaitingKey.parts(key.bytes),
      try forget(oldest.id, in: oldest.conversation)
    else {
      throw view.corrupt(
        Schema.index, "oldest waiting message: malformed, or without waiting facts")
    }
    transaction.add(1, to: .waitingDropped)
  }

  /// Removes all that is known of a message that is not here.
  ///
  /// Returns false if nothing waits for it.
  @discardableResult
  func forget(_ id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool {
    guard let waiting = try takeWaiting(id, in: conversation) else { return false }
    if !waiting.traits.names.isEmpty { transaction.noteLookupChange(in: conversation) }
    // In a conversation that is being swept, the names may be gone already.
    try transaction.messageNames.forget(waiting.traits.names, in: conversation)
    try transaction.messageFacts.removeFacts(of: id, in: conversation)
    return true
  }
}

extension Transaction {
  package var waitingMessages: WaitingMessages { WaitingMessages(transaction: self) }
}
