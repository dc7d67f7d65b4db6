/// The newest 20 of the messages that answer one.
///
/// Uses stores of its own: SQLite has an index of replies here only, so that no other workload pays
/// for it. In the huge thread each of the answered messages has some thirty replies. They are among
/// the hundred that follow it, as most replies are soon after what they answer; or they are spread
/// over all of what follows.
struct Replies: Workload {
  let name: String
  let summary: String
  let hasOwnStores = true
  private let isSpread: Bool

  static let count = 20
  private static let answeredCount = 200
  private static let followingCount = 100
  private static let operationCount = 500

  init(name: String, isSpread: Bool) {
    self.name = name
    self.isSpread = isSpread
    summary =
      isSpread
      ? "newest 20 of 30 answers to a message, spread over the huge thread"
      : "newest 20 of 30 answers to a message of the huge thread"
  }

  private struct Query {
    var key: MessageKey
    var expected: Digest
  }

  func run(on stage: Stage) throws -> [Figure] {
    let (stores, queries) = try makeStores(on: stage)
    let figures = try stage.measure(
      name, on: stores, blockCount: 4,
      prepare: { () -> [Query] in
        (0..<Self.operationCount).compactMap { _ in
          queries.randomElement(using: &stores.generator)
        }
      },
      engine: { engine, queries in
        guard let engine = engine as? any ReplyEngine else { return [] }
        return try queries.map { query in
          let reading = try engine.replies(to: query.key, count: Self.count)
          try reading.digest.check(is: query.expected, of: name, by: engine)
          return Double(reading.nanoseconds)
        }
      })
    try stores.close()
    return figures
  }

  /// Fills the stores and adds the answered messages with their replies.
  private func makeStores(on stage: Stage) throws -> (Stores, [Query]) {
    let stores = try Stores(
      stage.settings.engines.filter(\.isSQLiteOrOurs),
      corpus: stage.stores.corpus, messageCount: stage.settings.messageCount,
      seed: stage.settings.seed, directory: "\(stage.directory)/\(name)")
    for engine in stores.engines {
      _ = try stores.fill(engine, count: stores.messageCount) {
        try stage.progress.show("\(name), filling \(engine.name.rawValue)")
      }
    }
    let messages = thread(on: stores)
    stores.noteWritten(messages)
    for engine in stores.engines {
      for start in stride(from: 0, to: messages.count, by: Stores.batchCount) {
        let end = min(start + Stores.batchCount, messages.count)
        _ = try engine.insert(Array(messages[start..<end]))
      }
      try (engine as? any ReplyEngine)?.keepReplies()
      try engine.checkpoint()
    }
    return (stores, queries(messages, on: stores))
  }

  private func thread(on stores: Stores) -> [ChatMessage] {
    var messages = stores.stream.next(
      count: Self.answeredCount * (1 + Self.followingCount),
      in: stores.reference.hugeConversation)
    let block = 1 + Self.followingCount
    for index in messages.indices where stores.generator.chance(0.3) {
      let number =
        isSpread
        ? Int(stores.generator.fraction() * Double(Self.answeredCount)) : index / block
      messages[index].replyTo = messages[number * block].id
    }
    for index in stride(from: 0, to: messages.count, by: block) { messages[index].replyTo = nil }
    return messages
  }

  private func queries(_ messages: [ChatMessage], on stores: Stores) -> [Query] {
    var replies: [String: [ChatMessage]] = [:]
    for message in messages {
      if let answered = message.replyTo { replies[answered, default: []].append(message) }
    }
    return stride(from: 0, to: messages.count, by: 1 + Self.followingCount).map { index in
      let (id, conversation) = (messages[index].id, messages[index].conversation)
      let newest = Array((replies[id] ?? []).suffix(Self.count))
      return Query(
        key: MessageKey(id: id, conversation: conversation),
        expected: stores.reference.digest(of: newest))
    }
  }
}
