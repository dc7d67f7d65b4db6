import ArgumentParser
import MsgStore

/// Writes the whole store as lines of JSON.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes everything as JSON lines to standard output.",
    discussion: "A store restored from an export has the same export, byte for byte.")

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let store = try storeArgument.open()
    let output = Output()
    let localMember = store.localMember
    if let localMember { try output.record(.store(localMember: localMember)) }
    // Oldest first: conversations without activity are listed by age, so their order has to stay.
    try store.readOnce { snapshot in
      try snapshot.forEachConversation { conversation in
        let thread = try snapshot.thread(conversation.id)
        try output.record(
          .conversation(
            conversation.id, participants: conversation.participants, title: conversation.title))
        if conversation.unreadCount > 0 {
          let lastRead = try thread.lastRead(
            unreadCount: conversation.unreadCount, localMember: localMember)
          try output.record(.receipt(conversation.id, upTo: lastRead))
        }
        try thread.forEachMessage { try output.record(.message($0)) }
      }
    }
    try output.flush()
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
