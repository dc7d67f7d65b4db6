import PageFile

/// Resolves the change notes of a transaction into the changes that listeners are told.
struct Changes: TransactionPart {
  let transaction: Transaction

  /// Returns the changes of the transaction, or nil if it has no listener.
  ///
  /// Called when everything has been written. A failed lookup does not fail the transaction: the
  /// result is then `.anything`.
  func changes() -> StoreChanges? {
    guard transaction.hasListeners else { return nil }
    do throws(StoreError) {
      return try view.within { () throws(StoreError) in try resolvedNotes() }
    } catch {
      return .anything
    }
  }

  private func resolvedNotes() throws(StoreError) -> StoreChanges {
    if transaction.notes.coversEverything { return .anything }
    var all = StoreChanges()
    all.hasCounterChanges = transaction.notes.hasCounterChanges
    all.hasOutboxChanges = transaction.notes.hasOutboxChanges
    all.hasUnneededFileChanges = transaction.notes.hasUnneededFileChanges
    all.hasSettingChanges = transaction.notes.hasSettingChanges
    all.addProfiles(transaction.notes.profiles)
    for (number, noted) in transaction.notes.conversations {
      if let formerID = noted.formerID {
        var changes = noted.changes
        changes.forgetMessages()
        all.add(changes, of: formerID)
      } else if let id = try id(of: number) {
        let changes = try resolved(noted, number)
        if !all.hasOutboxChanges {
          all.hasOutboxChanges = try showsOtherwise(changes, noted, number)
        }
        all.add(changes, of: id)
      }
    }
    for renaming in transaction.notes.renamings {
      guard let id = try id(of: renaming.number), id != renaming.formerID else { continue }
      all.addName(id, for: renaming.formerID, isMerged: renaming.isMerged)
    }
    return all
  }

  /// Looks up the places of messages whose facts alone changed, and the list position of a
  /// conversation whose list entry was not written.
  private func resolved(
    _ noted: ChangeNotes.Conversation, _ number: UInt32
  ) throws(StoreError) -> ConversationChanges {
    var changes = noted.changes
    for (id, parts) in noted.facts {
      if let known = noted.changes.messages[id] {
        // A message that was inserted or removed reports no other change.
        changes.add(MessageChange(from: known.to, to: known.to, parts), of: id)
      } else if case (id, let position?)? = try transaction.messageNames.resolve(id, in: number) {
        // Readers do not see a message that was let go, because it has expired.
        if try isLetGo(position, in: number) { continue }
        // Facts lie under another of its names only until the message comes.
        changes.add(MessageChange(from: position, to: position, parts), of: id)
      }
    }
    if noted.isTouched, changes.entry == nil {
      let place = try transaction.conversation(number).listed
      let position = place.map { ConversationPosition(place: $0, number: number) }
      changes.addEntry(from: position, to: position)
    }
    return changes
  }

  /// Returns true if an entry of the outbox may show something else, although it was not written:
  /// the conversation's name or title, or the text of a message or of an edit.
  private func showsOtherwise(
    _ changes: ConversationChanges, _ noted: ChangeNotes.Conversation, _ number: UInt32
  ) throws(StoreError) -> Bool {
    guard transaction.outboxTotals.counts.total > 0,
      try view.outbox.lane(number).counts.total > 0
    else { return false }
    if noted.hasDetailsChanges || changes.coversAllMessages { return true }
    for (id, change) in changes.messages {
      let isThere = change.from != nil && change.to != nil
      if isThere, change.parts.isDisjoint(with: [.text, .status, .deletion, .place]) { continue }
      if try !view.outbox.entries(of: id, in: number).isEmpty { return true }
    }
    return false
  }

  private func isLetGo(
    _ position: MessagePosition, in number: UInt32
  ) throws(StoreError) -> Bool {
    if try transaction.expiries.reached == nil { return false }
    return try flushed().messages.message(at: position, in: number).traits.isLetGo
  }

  /// Returns the name of a conversation, or nil if its number no longer leads to one.
  private func id(of number: UInt32) throws(StoreError) -> ConversationID? {
    if let id = memory.conversations[number]?.id { return id }
    guard try transaction.isStored(number) else { return nil }
    let id = try view.conversations.details(number).id
    memory.conversations[number]?.id = id
    return id
  }
}

extension Transaction {
  var changes: Changes { Changes(transaction: self) }
}
