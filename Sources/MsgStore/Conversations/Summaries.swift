import PageFile

struct Summaries: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Takes a new message into account.
  func count(
    _ message: StoredMessage, at position: Position, _ summary: inout ConversationSummary,
    in conversation: UInt32
  ) throws(StoreError) {
    if !position.place.isPending || !StoreDefect.pendingUncounted.isPlanted {
      summary.messageCount += 1
    }
    summary.count(view.receipts.unreadCount(message, at: position, summary))
    try include(message, at: position, &summary, in: conversation)
  }

  /// Bounds the conversations that a transaction keeps open.
  ///
  /// Nobody may hold an open conversation across this call.
  func makeRoom() throws(StoreError) {
    guard memory.conversations.count >= WriterMemory.conversationCountMax else { return }
    try transaction.packer.packGrown()
    try flush()
    memory.forgetConversations()
  }

  /// Writes the summaries that changed, for reading conversations.
  func flush() throws(StoreError) {
    _ = try flushed()
    for conversation in memory.touched where conversation.isChanged {
      try write(conversation)
    }
    try transaction.storeTotals.writeTotals()
  }

  func write(_ conversation: OpenConversation) throws(StoreError) {
    conversation.summary.cutPreview()
    let key = KeyEncoding.key(conversation.number)
    var value = ByteBuffer(capacity: 256)
    conversation.summary.append(to: &value, inPlaceOf: conversation.storedByteCount)
    assert(
      ConversationSummary(value.bytes) == conversation.summary, "a summary is not what was written")
    if transaction.isHeard {
      try transaction.changes.noteEntry(conversation, key.bytes, value.bytes)
    }
    try transaction.insert(key.bytes, value.bytes, in: Schema.conversations)
    let place = conversation.summary.listPlace
    if conversation.listed != place { try list(conversation, at: place) }
    transaction.totals.replace(conversation.counted, with: Totals(conversation.summary))
    conversation.wasWritten(byteCount: value.count)
  }

  /// Moves a conversation's entry in the lists.
  func list(_ conversation: OpenConversation, at place: ListPlace?) throws(StoreError) {
    switch (conversation.listed, place) {
    case (.some, .some) where StoreDefect.listPlaceKept.isPlanted:
      break
    case (let old?, let new?):
      let key = old.key(conversation.number)
      let other = new.key(conversation.number)
      let wasThere = try storage { () throws(PageFileError) in
        try BTree(view.source, Schema.activity).rekey(key.bytes, to: other.bytes, .empty)
      }
      guard wasThere else { throw view.corrupt(Schema.activity, "an entry is missing") }
    case (let old?, nil):
      let key = old.key(conversation.number)
      try transaction.remove(key.bytes, in: Schema.activity)
    case (nil, let new?):
      let key = new.key(conversation.number)
      try transaction.insert(key.bytes, .empty, in: Schema.activity)
    case (nil, nil):
      break
    }
  }

  /// Takes a conversation, as it is stored, out of its tree, the lists and the totals.
  func drop(_ conversation: OpenConversation) throws(StoreError) {
    _ = try flushed()
    let key = KeyEncoding.key(conversation.number)
    try transaction.remove(key.bytes, in: Schema.conversations)
    if let listed = conversation.listed {
      let key = listed.key(conversation.number)
      try transaction.remove(key.bytes, in: Schema.activity)
    }
    transaction.totals.replace(conversation.counted, with: Totals())
    if transaction.isHeard {
      transaction.notes.listed(conversation.number, from: conversation.listed, to: nil)
    }
    memory.remove(conversation)
  }
}

extension Transaction {
  var summaries: Summaries { Summaries(self) }
}
