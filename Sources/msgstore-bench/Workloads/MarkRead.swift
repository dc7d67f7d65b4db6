/// The local member has read the newest 1000 messages of a thread: one call, relaxed.
struct MarkRead: Workload {
  let name = "mark-read-1000"
  private static let unreadCount = 1_000

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let conversation = stores.corpus.conversations.count - 1
    for engine in stores.engines { try engine.use(.relaxed) }
    return try stage.measure(
      name, blockCount: 5,
      prepare: { stores.stream.next(count: Self.unreadCount, in: conversation).map(fromAnother) },
      engine: { engine, messages in
        _ = try engine.insert(messages)
        return [Double(try engine.markRead(conversation))]
      },
      finish: { messages in
        stores.noteWritten(messages)
        stores.noteRead(conversation)
        let expected = stores.reference.list(count: 1)
        for engine in stores.engines {
          try engine.list(count: 1).digest.check(is: expected, of: name, by: engine)
        }
      })
  }

  private func fromAnother(_ message: ChatMessage) -> ChatMessage {
    var message = message
    if message.sender == localMember { message.sender = "somebody" }
    return message
  }
}
