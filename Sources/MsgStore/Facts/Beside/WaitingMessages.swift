import PageFile

/// Facts about messages that are not here yet.
///
/// They lie in the facts tree under the message's name, as those of messages that are here do, and
/// the waiting tree has the names in the order in which they began to wait. There is a limit; what
/// has waited longest makes room, and is counted.
///
/// See docs/message-format.md, F-6 … F-9.
package struct WaitingMessages: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Notes that something is known of a message that is not here, and changes it.
  ///
  /// Returns whether anything changed.
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
      let ordinal = try view.source.value(of: .nextWaiting) ?? 0
      try view.source.set(.nextWaiting, to: ordinal &+ 1)
      var key = ByteBuffer()
      key.append(bigEndian: ordinal)
      let name = KeyEncoding.key(conversation, id)
      try transaction.insert(key.bytes, name.bytes, in: Schema.waiting)
      try transaction.storeTotals.add(1, to: .waitingCount)
      transaction.isAnythingWaiting = true
      new = WaitingFacts(ordinal: ordinal)
    }
    try change(&new)
    guard new != old else { return false }
    let key = FactKey.prefix(conversation, id, .waiting)
    var value = ByteBuffer()
    new.appendChecked(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.facts)
    if old == nil { try dropOldestWaiting() }
    return true
  }

  /// Whether anything is known of messages that are not here.
  func hasWaiting() throws(StoreError) -> Bool {
    if let isAnythingWaiting = transaction.isAnythingWaiting { return isAnythingWaiting }
    let isThere = try view.count(.waitingCount) > 0
    transaction.isAnythingWaiting = isThere
    return isThere
  }

  /// What is known of a message that is not here.
  package func waiting(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> WaitingFacts? {
    guard try hasWaiting() else { return nil }
    let key = FactKey.prefix(conversation, id, .waiting)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.facts, appendTo: &value) else { return nil }
    guard let waiting = WaitingFacts(value.bytes) else {
      throw view.corrupt(Schema.facts, "what waits for message \"\(id)\" is no record")
    }
    return waiting
  }

  /// Ends the waiting of a message that has come.
  package func takeWaiting(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> WaitingFacts? {
    guard let waiting = try waiting(id, in: conversation) else { return nil }
    let fact = FactKey.prefix(conversation, id, .waiting)
    try transaction.remove(fact.bytes, in: Schema.facts)
    var key = ByteBuffer()
    key.append(bigEndian: waiting.ordinal)
    try transaction.remove(key.bytes, in: Schema.waiting)
    if !StoreDefect.waitingCountKept.isPlanted {
      try transaction.storeTotals.add(-1, to: .waitingCount)
    }
    return waiting
  }

  /// Makes room by giving up what has waited longest.
  private func dropOldestWaiting() throws(StoreError) {
    guard try view.count(.waitingCount) > rules.waitingCountMax else { return }
    var cursor = Cursor(view.source, Schema.waiting)
    var name = ByteBuffer()
    let isThere = try storage { () throws(PageFileError) in try cursor.first() }
    guard isThere else { return }
    try view.append(cursor, to: &name)
    guard let conversation = name.bytes.bigEndianNumber(at: 0),
      (1...Identifier.byteCountMax).contains(name.count - KeyEncoding.numberByteCount),
      let waiting = try takeWaiting(MessageID(name.bytes.dropFirst(4)), in: conversation)
    else { throw view.corrupt(Schema.waiting, "the oldest entry leads to nothing") }
    let id = MessageID(name.bytes.dropFirst(4))
    // Of a conversation that is being swept the names may be gone.
    try transaction.messageNames.forget(waiting.traits.names, in: conversation)
    try transaction.messageFacts.removeFacts(of: id, in: conversation)
    try transaction.storeTotals.add(1, to: .waitingDropped)
  }
}

extension Transaction {
  package var waitingMessages: WaitingMessages { WaitingMessages(self) }
}
