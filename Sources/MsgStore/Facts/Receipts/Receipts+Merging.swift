import PageFile

/// Merges receipts when two conversations become one.
extension Receipts {
  /// Moves the receipts of one conversation to another.
  ///
  /// Receipts told for the source count for the source alone: for its messages every mark is to be
  /// told again. Call this once both marks have been merged.
  func mergeReceipts(
    from source: OpenConversation, into target: OpenConversation
  ) throws(StoreError) {
    try transaction.pendingReceipts.forgetPending(source)
    let old = try transaction.receipts.own(source)
    var own = try transaction.receipts.own(target)
    let before = own
    for kind in ReceiptKind.allCases {
      let sourceOrdinal = kind == .read ? source.summary.markOrdinal : old.deliveredOrdinal
      let targetOrdinal = kind == .read ? target.summary.markOrdinal : own.deliveredOrdinal
      var exact: [(id: MessageID, isDue: Bool)] = []
      try view.pendingReceipts.forEachExact(kind, source.number) { (id, first) in
        exact.append((id, first <= sourceOrdinal))
        return true
      }
      for (id, isDue) in exact {
        try rememberExact(
          kind, id, from: isDue ? 0 : targetOrdinal + 1, in: target)
        try forgetExact(kind, id, in: source)
      }
    }
    own.deliveredMark = latest(own.deliveredMark, old.deliveredMark)
    own.lateFrom = [own.lateFrom, old.lateFrom].compactMap { $0 }.min()
    own.readTimes.join(old.readTimes)
    own.deliveredTimes.join(old.deliveredTimes)
    if let bound = old.sequenceBound { own.widen(bound: bound, floor: nil) }
    if own != before { keepOwn(own, target) }
    let key = ReceiptKey.own(source.number)
    if try view.contains(key, in: Schema.conversations) {
      try transaction.remove(key.bytes, in: Schema.conversations)
    }
    source.receipts = ConversationReceipts()
    source.hasUnwrittenReceipts = false
    try mergeMembers(from: source.number, into: target.number)
    if let localMember {
      try tell(try view.receipts.receipts(of: localMember, in: target.number).read.mark, to: target)
    }
    try membershipChanged(target)
  }

  private func mergeMembers(from source: UInt32, into target: UInt32) throws(StoreError) {
    var records: [(member: UInt32, record: ReceiptRecord)] = []
    try view.receipts.forEachReceipts(source) { (member, record) in
      records.append((member, record))
      return true
    }
    let view = try flushed()
    for (member, record) in records {
      var merged = try view.receipts.receipts(of: member, in: target)
      merged.join(record)
      for kind in ReceiptKind.allCases {
        // Marks up to sequences may cover messages of the other conversation.
        let known = merged[kind]
        try merged[kind].resolve { (sequence) throws(StoreError) in
          let found = try view.receipts.lastPosition(upTo: sequence, in: target)
          return latest(found, known.sequences.first { $0.sequence == sequence }?.position)
        }
      }
      try writeReceipts(merged, of: member, in: target)
      try transaction.remove(ReceiptKey.member(source, member), in: Schema.conversations)
    }
  }
}
