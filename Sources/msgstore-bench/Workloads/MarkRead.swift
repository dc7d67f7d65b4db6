/// The local member has read the newest 1000 messages of a thread, all of which were unread: one
/// call, relaxed.
///
/// Afterwards both engines can say of each message who has read it and when, and how many are
/// unread. SQLite keeps a row for each message and member, as its users do; as `-mark` it keeps one
/// for each time a member has read up to somewhere, which is what we do.
///
/// Rows remember each message's time for ever; of our marks the last eight of a member have theirs.
struct MarkRead: Workload {
  let name: String
  let form: ReceiptForm
  private static let unreadCount = 1_000

  private struct Input {
    var messages: [ChatMessage]
    /// When they are read.
    var time: Int64
    /// What the list says before.
    var unread: Digest
  }

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let conversation = stores.corpus.conversations.count - 1
    for engine in stores.engines { try engine.use(.relaxed) }
    return try stage.measure(
      name, blockCount: 5, prepare: { input(in: conversation, on: stores) },
      engine: { engine, input in
        _ = try engine.insert(input.messages)
        try engine.list(count: 1).digest.check(is: input.unread, of: name, by: engine)
        return [Double(try engine.markRead(input.messages, at: input.time, as: form))]
      },
      finish: { input in
        stores.noteRead(conversation)
        let read = stores.reference.list(count: 1)
        for engine in stores.engines {
          try engine.list(count: 1).digest.check(is: read, of: name, by: engine)
          try checkReaders(of: input, by: engine)
        }
      })
  }

  private func input(in conversation: Int, on stores: Stores) -> Input {
    let others = stores.corpus.conversations[conversation].participants
      .filter { $0 != localMember }
    let messages = stores.stream.next(count: Self.unreadCount, in: conversation).map { message in
      var message = message
      if message.sender == localMember { message.sender = others.first ?? "somebody" }
      return message
    }
    stores.noteWritten(messages)
    return Input(
      messages: messages, time: (messages.last?.serverTime ?? 0) + 1_000_000,
      unread: stores.reference.list(count: 1))
  }

  private func checkReaders(of input: Input, by engine: any Engine) throws {
    let expected = [Reader(member: localMember, time: input.time)]
    for message in input.messages {
      let key = MessageKey(id: message.id, conversation: message.conversation)
      guard try engine.readers(of: key, as: form) == expected else {
        throw BenchError(
          "\(engine.name.rawValue), \(name): does not know who has read \(message.id)")
      }
    }
  }
}
