package import MsgStore

/// What an export of a store says, record by record.
package enum StoreExport {
  /// Calls `write` with all records, in the order in which a restore wants them.
  ///
  /// Reads one moment of the store, conversation by conversation, oldest first: those without
  /// activity are listed by age, so their order has to stay.
  package static func records(
    of store: MessageStore, _ write: (JSONRecord) throws -> Void
  ) throws {
    let localMember = store.localMember
    if let localMember { try write(.store(localMember: localMember)) }
    try store.readOnce { snapshot in
      try snapshot.forEachConversation { conversation in
        if conversation.isDeleted { return }
        let thread = try snapshot.thread(conversation.id)
        try write(
          .conversation(
            conversation.id, participants: conversation.participants, title: conversation.title))
        if conversation.unreadCount > 0 {
          let lastRead = try thread.lastRead(
            unreadCount: conversation.unreadCount, localMember: localMember)
          try write(.receipt(conversation.id, upTo: lastRead))
        }
        try thread.forEachMessage { try write(.message($0)) }
      }
    }
  }
}

extension Thread {
  /// The message up to which all is read when as many of others' messages as are unread follow it;
  /// nil when nothing is read.
  fileprivate func lastRead(unreadCount: Int, localMember: MemberID?) throws -> MessageID? {
    var remainingCount = unreadCount
    var lastRead: MessageID?
    try forEachMessageBackwards { message in
      guard remainingCount > 0 else {
        lastRead = message.id
        return false
      }
      if message.sender != localMember { remainingCount -= 1 }
      return true
    }
    return lastRead
  }
}
