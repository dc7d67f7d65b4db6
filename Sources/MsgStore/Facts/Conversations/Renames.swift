import PageFile

/// Gives a conversation that was made here the server's name.
///
/// If a conversation with that name has come already, the two are merged.
///
/// See docs/message-format.md, C-18 … C-20.
extension Conversations {
  func renameConversation(
    _ id: ConversationID, to serverID: ConversationID
  ) throws(StoreError) -> Bool {
    try serverID.validate()
    guard let source = try transaction.existingConversation(id) else {
      throw .conversation(.notFound, id)
    }
    try transaction.emit(.conversationKnown(source.number))
    guard let target = try transaction.existingConversation(serverID) else {
      return try name(source.number, serverID)
    }
    if target.number == source.number { return try name(source.number, serverID) }
    try transaction.emit(.conversationKnown(target.number))
    // Looking up one conversation may have closed the other.
    return try join(try transaction.conversation(source.number), to: target)
  }

  /// Makes this the name of a conversation, and its previous name a former one.
  private func name(_ number: UInt32, _ id: ConversationID) throws(StoreError) -> Bool {
    var details = try view.conversations.details(number)
    if details.id == id { return false }
    transaction.hasAdded = true
    try transaction.conversations.lead([details.id], to: number, areFormer: true)
    try transaction.conversations.lead([id], to: number)
    if transaction.hasListeners { transaction.notes.renamed(details.id, number) }
    details.aliases.removeAll { $0 == id }
    details.aliases.append(details.id)
    details.id = id
    try transaction.conversations.forget(names: details.dropOldestAliases())
    try transaction.writeDetails(details, of: number)
    return true
  }

  /// Merges two conversations: everything except the messages at once, and as many messages as one
  /// commit should move.
  private func join(
    _ source: OpenConversation, to target: OpenConversation
  ) throws(StoreError) -> Bool {
    try transaction.summaries.flush()
    transaction.hasAdded = true
    let (number, summary) = (source.number, source.summary)
    let details = try view.conversations.details(number)
    let members = try view.conversations.members(number)
    let draft = try view.conversations.draftRecord(number)
    let fields = try view.conversations.ownFields(number)
    var dropped: [ConversationID] = []
    _ = try transaction.conversations.update(target) { (new) throws(StoreError) in
      try new.members.merge(members)
      try transaction.conversations.merge(creator: details.createdBy, &new)
      transaction.conversations.mergeDetails(details, summary.marks, &new)
      new.details.aliases += ([details.id] + details.aliases).filter { $0 != new.details.id }
      dropped = new.details.dropOldestAliases()
    }
    if let draft { _ = try transaction.conversations.mergeDraft(draft, of: target) }
    _ = try transaction.conversations.mergeFields(fields.all, of: target.number)
    // One that was deleted comes back for a message only.
    if !summary.marks.contains(.hidden), target.summary.deletedUpTo == nil { target.reveal() }
    target.summary.nextLocalOrder = max(target.summary.nextLocalOrder, summary.nextLocalOrder)

    try transaction.emit(.conversationMoved(number, to: target.number))
    try transaction.receipts.mergeReceipts(from: source, into: target)
    try transaction.summaries.drop(source)
    if transaction.hasListeners {
      transaction.notes.merged(number, details.id, into: target.number)
    }
    try transaction.memberships.remove(number, details)
    try transaction.expiries.muteEndChanged(from: details.awaitedMuteEnd, to: nil, of: number)
    var key = KeyEncoding.key(number)
    for suffix in ConversationDetails.cellSuffixes {
      key.truncate(to: KeyEncoding.numberByteCount)
      key.append(suffix)
      _ = try storage { () throws(PageFileError) in
        try BTree(view.source, Schema.conversations).remove(key.bytes)
      }
    }
    try transaction.conversations.lead(
      [details.id] + details.aliases, to: target.number, areFormer: true)
    try transaction.conversations.forget(names: dropped)
    for (ordinal, work) in try transaction.workQueue.merges(into: number) {
      guard case .merge(_, let summary) = work.kind else { continue }
      try transaction.workQueue.write(
        WorkRecord(.merge(into: target.number, summary), of: work.conversation), at: ordinal)
    }
    if let time = summary.deletedUpTo {
      // Pending messages move first: otherwise the deletion would remove a message of the same
      // name, and with it its outbox entries, which may have moved already.
      guard try transaction.moves.movePending(of: number, summary, into: target.number) else {
        try transaction.workQueue.add(WorkRecord(.merge(into: target.number, summary), of: number))
        try transaction.deletions.postpone(target, upTo: time)
        try transaction.pendingReceipts.updatePending(try transaction.conversation(target.number))
        return true
      }
    }
    // A deletion may give the target a new number.
    let name = try view.conversations.details(target.number).id
    if let time = summary.deletedUpTo { _ = try transaction.deletions.delete(target, upTo: time) }
    let left = try transaction.existingConversation(name) ?? target
    if try !transaction.moves.moveMessages(of: number, summary, into: left.number) {
      try transaction.workQueue.add(WorkRecord(.merge(into: left.number, summary), of: number))
    }
    try transaction.pendingReceipts.updatePending(try transaction.conversation(left.number))
    return true
  }
}
