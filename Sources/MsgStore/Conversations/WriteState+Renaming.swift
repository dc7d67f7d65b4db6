import PageFile

/// The server's name for a conversation that was made here, which may have come with a conversation
/// already: then both become one.
///
/// See docs/message-format.md, C-18 … C-20.
extension WriteState {
  func renameConversation(
    _ id: ConversationID, to serverID: ConversationID
  ) throws(StoreError) -> Bool {
    try serverID.validate()
    return try change { () throws(StoreError) in
      guard let source = try existingConversation(id) else { throw .conversationNotFound(id) }
      try settleCreation(of: source.number)
      guard let target = try existingConversation(serverID) else {
        return try name(source.number, serverID)
      }
      if target.number == source.number { return try name(source.number, serverID) }
      try settleCreation(of: target.number)
      // Looking one up may have put the other away.
      return try join(try conversation(source.number), to: target)
    }
  }

  /// Makes this the name of a conversation, and what it was called so far one that leads to it.
  private func name(_ number: UInt32, _ id: ConversationID) throws(StoreError) -> Bool {
    var details = try reader.details(number)
    if details.id == id { return false }
    hasAdded = true
    try lead([details.id], to: number, areFormer: true)
    try lead([id], to: number)
    if isHeard { notes.renamed(details.id, number) }
    details.aliases.removeAll { $0 == id }
    details.aliases.append(details.id)
    details.id = id
    try forget(names: details.dropOldestAliases())
    try writeDetails(details, of: number)
    return true
  }

  /// Makes two conversations one: at once all but the messages, of which as many as one commit should
  /// move.
  private func join(
    _ source: OpenConversation, to target: OpenConversation
  ) throws(StoreError) -> Bool {
    try flush()
    hasAdded = true
    let (number, summary) = (source.number, source.summary)
    let details = try reader.details(number)
    let members = try reader.members(number)
    let draft = try reader.draftRecord(number)
    var dropped: [ConversationID] = []
    _ = try update(target, members: true) { (new) throws(StoreError) in
      new.members.merge(members)
      try merge(creator: details.createdBy, &new)
      mergeDetails(details, summary.marks, &new)
      new.details.aliases += ([details.id] + details.aliases).filter { $0 != new.details.id }
      dropped = new.details.dropOldestAliases()
    }
    if let draft { _ = try mergeDraft(draft, of: target) }
    if !summary.marks.contains(.hidden) { reveal(target) }
    target.summary.nextLocalOrder = max(target.summary.nextLocalOrder, summary.nextLocalOrder)

    try moveEntries(of: number, to: target.number)
    try mergeReceipts(from: source, into: target)
    try drop(source)
    if isHeard { notes.merged(number, details.id, into: target.number) }
    var key = KeyEncoding.key(number)
    for suffix in ConversationDetails.cellSuffixes {
      key.truncate(to: KeyEncoding.numberByteCount)
      key.append(suffix)
      _ = try storage { () throws(PageFileError) in
        try BTree(reader.source, Schema.conversations).remove(key.bytes)
      }
    }
    if !members.active.isEmpty {
      let entry = KeyEncoding.key(ConversationMembers.digest(members.active), number)
      try remove(entry.bytes, in: Schema.participants)
    }
    try lead([details.id] + details.aliases, to: target.number, areFormer: true)
    try forget(names: dropped)
    for (ordinal, work) in try reader.work() {
      guard case .merge(into: number, let summary) = work.kind else { continue }
      try write(
        WorkRecord(.merge(into: target.number, summary), of: work.conversation), at: ordinal)
    }
    if summary.deletedUpTo != nil {
      // Pending messages move first: the deletion would take a message of the same name away, and with it
      // the outbox's entries, which have moved already.
      var count = 0
      _ = try movePending(of: number, summary, into: target.number, &count) { _ in false }
    }
    // A deletion may give the other a new number.
    let name = try reader.details(target.number).id
    if let time = summary.deletedUpTo { _ = try delete(target, upTo: time) }
    let left = try existingConversation(name) ?? target
    if try !moveMessages(of: number, summary, into: left.number) {
      try addWork(WorkRecord(.merge(into: left.number, summary), of: number))
    }
    try updatePending(try conversation(left.number))
    return true
  }

  /// Takes in the details of another conversation, but for its names and numbers.
  func mergeDetails(
    _ other: ConversationDetails, _ marks: ConversationSummary.Flags, _ new: inout Attributes
  ) {
    new.details.kind = max(new.details.kind, other.kind)
    new.details.title.merge(other.title)
    new.details.avatar.merge(other.avatar)
    new.details.createdAt = [new.details.createdAt, other.createdAt].compactMap { $0 }.min()
    func merge(
      _ mark: ConversationSummary.Flags, _ path: WritableKeyPath<ConversationDetails, Int64?>
    ) {
      guard let time = other[keyPath: path] else { return }
      self.mergeMark(marks.contains(mark), mark, path, Timestamp(microseconds: time), &new)
    }
    merge(.pinned, \.pinnedAt)
    merge(.muted, \.mutedAt)
    merge(.archived, \.archivedAt)
  }
}
