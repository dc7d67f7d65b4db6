/// The local member reads the newest 1000 messages of a thread, all unread before: one call,
/// relaxed.
///
/// Several threads get their messages first and are then read one after the other.
///
/// Afterwards both engines can tell for each message who has read it and when, and how many are
/// unread. SQLite keeps a row for each message and member, as its users do. As `-mark` it keeps one
/// row each time a member reads up to some message, as we do.
///
/// Rows keep each message's time for ever; of our marks only the last eight of a member do.
struct MarkRead: Workload {
  let name: String
  let form: ReceiptForm
  var summary: String {
    "the newest 1000 messages of a thread are marked as read; the peers keep "
      + (form == .rows ? "who has read each of them" : "one mark for all of them")
  }
  private static let unreadCount = 1_000
  private static let conversationCount = 5

  func obstacle(in stores: Stores) -> String? {
    stores.corpus.conversations.count > 1 ? nil : "it reads others than the first conversation"
  }

  private struct Input {
    /// The messages to read, one thread each.
    var batches: [[ChatMessage]]
    /// The time of reading.
    var time: Int64
    /// The digest of the list before reading.
    var unread: Digest
  }

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let all = stores.corpus.conversations.indices
    let conversations = Array(all.dropFirst().suffix(Self.conversationCount))
    for engine in stores.engines { try engine.use(.relaxed) }
    return try stage.measure(
      name, blockCount: 5, prepare: { input(in: conversations, on: stores) },
      engine: { engine, input in
        for messages in input.batches { _ = try engine.insert(messages) }
        try engine.list(count: input.batches.count).digest
          .check(is: input.unread, of: name, by: engine)
        return try input.batches.map {
          Double(try engine.markRead($0, at: input.time, as: form))
        }
      },
      finish: { input in
        for conversation in conversations { stores.noteRead(conversation) }
        let read = stores.reference.list(count: conversations.count)
        for engine in stores.engines {
          try engine.list(count: conversations.count).digest
            .check(is: read, of: name, by: engine)
          try checkReaders(of: input, by: engine)
        }
      })
  }

  private func input(in conversations: [Int], on stores: Stores) -> Input {
    let batches = conversations.map { conversation in
      let others = stores.corpus.conversations[conversation].participants
        .filter { $0 != localMember }
      return stores.stream.next(count: Self.unreadCount, in: conversation).map { message in
        var message = message
        if message.sender == localMember { message.sender = others.first ?? "somebody" }
        return message
      }
    }
    for messages in batches { stores.noteWritten(messages) }
    return Input(
      batches: batches, time: (batches.last?.last?.serverTime ?? 0) + 1_000_000,
      unread: stores.reference.list(count: conversations.count))
  }

  private func checkReaders(of input: Input, by engine: any Engine) throws {
    let expected = [Reader(member: localMember, time: input.time)]
    for message in input.batches.joined() {
      let key = MessageKey(id: message.id, conversation: message.conversation)
      guard try engine.readers(of: key, as: form) == expected else {
        throw BenchError(
          "\(engine.name.rawValue), \(name): wrong readers of \(message.id)")
      }
    }
  }
}
