import MsgStore
import MsgStoreTools
import PageFile
import RandomChat
import Testing

/// Snapshots that are read while the store goes on, through every kind of step.
struct HeldSnapshotTests {
  @Test(arguments: seeds(10, debugCount: 4)) func aSnapshotStaysAsItWas(seed: UInt64) {
    var lineCount = 0
    RandomStore(
      seed: seed, packing: seed % 4 == 0 ? nil : .random(seed), isNarrow: seed % 2 == 0
    ).expectSound(stepCount: 60) { made in
      var (first, rest) = (made, made)
      first.transactions.removeSubrange((made.transactions.count / 2)...)
      rest.transactions.removeSubrange(..<(made.transactions.count / 2))
      let store = try first.play()
      let fault: String? = try store.read { chat throws in
        let before = try text(of: chat)
        lineCount = max(lineCount, before.count)
        for transaction in rest.transactions {
          try transaction.run(on: store)
          let after = try text(of: chat)
          if after != before {
            return "after \(transaction): \(after.difference(from: before))"
          }
        }
        // Rules and sweeps come to an end meanwhile.
        try store.write { chat in
          try chat.setRetention(Retention(messageCount: 1))
          for room in ["a", "b"] as [ConversationID] { _ = try? chat.deleteConversation(room) }
          try chat.prune()
        }
        try store.finishWork()
        let after = try text(of: chat)
        return after == before ? nil : "after the steps: \(after.difference(from: before))"
      }
      if let fault { return fault }
      defer { try? store.close() }
      return try store.defect()
    }
    #expect(lineCount > 20, "or little was compared")
  }

  /// Everything that a screen shows, except whether a queued transfer runs: that is the process's.
  private func text(of chat: borrowing StoreSnapshot) throws -> [String] {
    var lines = try DerivedText.lines(of: chat).map {
      $0.replacing(/running\(doneByteCount: \d+\)/, with: "queued")
    }
    let rooms =
      Array(try chat.conversations(count: 1000))
      + Array(try chat.archivedConversations(count: 1000))
    for room in rooms {
      let thread = try chat.thread(room.id)
      for message in try thread.tail(10_000) {
        lines.append(
          "\(room.id) \(message.id) \(message.sender) \(message.text.debugDescription)"
            + " \(message.status) \(message.attachments.map(\.id)) \(message.reactions.count)"
            + " \(message.replyTo.map { "\($0)" } ?? "-") \(message.senderProfile?.name ?? "-")")
        lines += try chat.replies(to: message.id, in: room.id).newest(20).map {
          "\(message.id) answered by \($0.id)"
        }
      }
      for tag in [MessageTag.image, .link, .mention, .pinned, .starred] {
        let tagged = try thread.tagged(tag)
        lines.append("\(room.id) \(tag) \(try tagged.count) \(try tagged.tail(1000).ids)")
      }
    }
    return lines
  }
}
