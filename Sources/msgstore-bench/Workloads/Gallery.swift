import MsgStore

/// The newest 50 images of a thread of 100,000 messages, of which five percent are images.
///
/// Uses stores of its own: SQLite has an index of images here only, so that no other workload pays
/// for it. Images lie among the other messages by chance.
struct Gallery: Workload {
  let name = "gallery50"
  let summary = "newest 50 images of a thread of 100,000 messages with five percent images"
  let hasOwnStores = true

  static let count = 50
  private static let messageCount = 100_000
  private static let imageShare = 0.05
  private static let operationCount = 200

  func run(on stage: Stage) throws -> [Figure] {
    let (stores, expected) = try makeStores(on: stage)
    let figures = try stage.measure(
      name, on: stores, blockCount: 4, prepare: { Self.operationCount },
      engine: { engine, count in
        guard let engine = engine as? any GalleryEngine else { return [] }
        return try (0..<count).map { _ in
          let reading = try engine.images(
            of: stores.reference.hugeConversation, count: Self.count)
          try reading.digest.check(is: expected, of: name, by: engine)
          return Double(reading.nanoseconds)
        }
      })
    try stores.close()
    return figures
  }

  /// Fills the stores and returns what the newest images are.
  private func makeStores(on stage: Stage) throws -> (Stores, Digest) {
    let stores = try Stores(
      stage.settings.engines.filter(\.isSQLiteOrOurs),
      corpus: stage.stores.corpus, messageCount: min(stage.settings.messageCount, 20_000),
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
      try (engine as? any GalleryEngine)?.keepImages()
      try engine.checkpoint()
    }
    let newest = messages.filter { $0.extras != nil }.suffix(Self.count)
    return (stores, stores.reference.digest(of: Array(newest)))
  }

  private func thread(on stores: Stores) -> [ChatMessage] {
    var messages = stores.stream.next(
      count: Self.messageCount, in: stores.reference.hugeConversation)
    for index in messages.indices {
      messages[index].extras = nil
      guard stores.generator.chance(Self.imageShare) else { continue }
      messages[index].extras = MessageExtras(
        mentions: [], reactions: [],
        attachments: [
          ChatAttachment(
            id: "a", kind: 1, url: "https://files.example/\(messages[index].id)",
            fileName: "IMG_\(index).jpg", mimeType: "image/jpeg", byteCount: 2_000_000,
            width: 4032, height: 3024, preview: [])
        ])
    }
    return messages
  }
}

/// An engine that finds the images of a thread.
protocol GalleryEngine: Engine {
  /// Prepares the store for `images`, if necessary.
  ///
  /// Not timed.
  func keepImages() throws
  /// Reads the newest images of a conversation.
  func images(of conversation: Int, count: Int) throws -> Reading
}

extension MsgStoreEngine: GalleryEngine {
  func keepImages() {}

  func images(of conversation: Int, count: Int) throws -> Reading {
    try read(conversation) { store, id in
      try store.read { try $0.thread(id).tagged(.image).tail(count) }
    }
  }
}

extension SQLiteEngine: GalleryEngine {
  func keepImages() throws { try current.execute(SQLiteQuery.imagesSchema) }

  func images(of conversation: Int, count: Int) throws -> Reading {
    try reading(of: conversation) { connection in
      let statement = try connection.statement(.images)
      statement.bind(PeerMessage.number(conversation), at: 1)
      statement.bind(Int64(count), at: 2)
      return try rows(of: statement, count: count, with: connection)
    }
  }
}
