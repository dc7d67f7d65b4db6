import PageFile

/// Rule 10.
extension StoreCore {
  /// Compares what the last writer has left with the trees, if the snapshot is of its commit.
  func checkMemory(in snapshot: borrowing StoreSnapshot) throws(StoreError) -> [Finding] {
    let check = StoreCheck()
    let reader = snapshot.reader.forgetful()
    do throws(StoreError) {
      try withMemory(of: snapshot.lsn) { (memory) throws(StoreError) in
        try check.memory(memory, reader)
      }
    } catch {
      try check.reportDamage(error)
    }
    return check.result
  }
}

extension StoreCheck {
  fileprivate func memory(_ memory: WriterMemory, _ reader: StoreReader) throws(StoreError) {
    for conversation in memory.conversations.values {
      try reader.within { () throws(StoreError) in try remembered(conversation, reader) }
    }
    for (id, number) in memory.numbers.conversations {
      let stored = try reader.within { () throws(StoreError) in try reader.number(of: id) }
      if stored != number { report("the writer remembers \"\(id)\" as conversation \(number)") }
    }
    try reader.within { () throws(StoreError) in try counts(memory, reader) }
  }

  private func remembered(
    _ conversation: OpenConversation, _ reader: StoreReader
  ) throws(StoreError) {
    let number = conversation.number
    var cursor = Cursor(reader.source, Schema.conversations)
    if try reader.summary(number, &cursor) != conversation.summary || conversation.isChanged {
      report("the writer remembers another summary of conversation \(number)")
    }
    if let receipts = conversation.receipts, try reader.receipts(number) != receipts {
      report("the writer remembers other receipts of conversation \(number)")
    }
    if let others = conversation.others,
      try reader.members(number).recipients(without: reader.localMember) != others
    {
      report("the writer remembers other members of conversation \(number)")
    }
    if let known = conversation.greatestName, let last = try reader.lastName(in: number),
      known < last
    {
      report("conversation \(number) has a greater name than the writer remembers")
    }
  }

  private func counts(_ memory: WriterMemory, _ reader: StoreReader) throws(StoreError) {
    if let totals = memory.totals, try reader.totals() != totals {
      report("the writer remembers other totals")
    }
    if let outbox = memory.outbox, try reader.outboxTotals() != outbox {
      report("the writer remembers another outbox")
    }
    if memory.isAnythingWaiting == false, try reader.count(.waitingCount) != 0 {
      report("the writer remembers that nothing waits")
    }
    let newest = try reader.newestDictionary()
    for encoder in [memory.encoders.fast, memory.encoders.high] {
      // 0: the newest could not be read.
      guard let number = encoder?.dictionary, number > 0, number != newest else { continue }
      report("the writer packs with dictionary \(number), and \(newest) is the newest")
    }
  }
}
