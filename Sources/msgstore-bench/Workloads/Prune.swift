import MsgStore

/// The newest tenth of each large conversation is kept: the longest commit of the pruning, the
/// commits that it takes, and the size of what is left.
///
/// Everything is read before, as unread messages stay. When no work is left, the store is
/// compacted, and its bytes are divided by those of a new store that got the remaining messages
/// alone and was compacted, too. Ours only: the peers leave retention to the application.
struct Prune: Workload {
  let name = "prune90"
  let summary = "the longest commit while nine tenths of the large conversations are pruned"
  let hasOwnStores = true
  static let stepsName = "prune90-steps"
  static let stepsSummary = "the commits that it takes"
  static let sizeName = "prune90-size"
  static let sizeSummary =
    "bytes after compaction, divided by those of a new store of the remaining messages"
  /// The messages that make a conversation a large one.
  private static let minimumCount = 100

  /// The figures of one round.
  private struct Result {
    var commits: [Double]
    var ratio: Double
    var leftCount: Int
  }

  func run(on stage: Stage) throws -> [Figure] {
    guard stage.settings.engines.contains(.msgstore) else { return [] }
    var commits: [Round] = []
    var steps: [Round] = []
    var sizes: [Round] = []
    for number in 1...max(stage.settings.roundCount, 1) {
      try stage.progress.show("\(name), round \(number) of \(stage.settings.roundCount)")
      let result = try prune(on: stage)
      let count = result.commits.count
      commits.append(
        Round(
          mean: result.commits.max() ?? 0, samples: result.commits, operationCount: count))
      steps.append(Round(mean: Double(count), operationCount: count))
      sizes.append(Round(mean: result.ratio, operationCount: result.leftCount))
    }
    return Figure.all(of: name, rounds: [.msgstore: commits])
      + Figure.all(of: Self.stepsName, unit: Figure.count, rounds: [.msgstore: steps])
      + Figure.all(of: Self.sizeName, unit: Figure.ratio, rounds: [.msgstore: sizes])
  }

  private func prune(on stage: Stage) throws -> Result {
    let home = "\(stage.directory)/\(name)"
    try Files.makeDirectory(home)
    defer { Files.remove(home) }
    let stores = try Stores(
      [.msgstore], corpus: stage.stores.corpus, messageCount: stage.settings.messageCount,
      seed: stage.settings.seed, directory: "\(home)/whole")
    guard let engine = stores.engines.first else { throw BenchError("\(name): no store") }
    _ = try stores.fill(engine, count: stores.messageCount) {}
    try engine.close()
    let store = try open(in: engine.directory)
    try markAllRead(in: store)
    let counts = stores.reference.threads.map(\.entries.count)
    let ids = stores.corpus.conversations.map { ConversationID($0.id) }
    try store.write(.relaxed) { chat in
      for (id, count) in zip(ids, counts) where count >= Self.minimumCount {
        try chat.setRetention(Retention(messageCount: max(count / 10, 1)), of: id)
      }
    }
    try store.checkpoint()
    let commits = try commitTimes(of: store)
    let left = try remaining(in: store, ids, counts)
    let byteCount = try compactedByteCount(of: store, in: engine.directory)
    let new = try newStore(of: left, on: stage, in: "\(home)/new")
    let newByteCount = try compactedByteCount(of: new.store, in: new.directory)
    return Result(
      commits: commits, ratio: Double(byteCount) / Double(max(newByteCount, 1)),
      leftCount: left.reduce(0) { $0 + $1.count })
  }

  private func open(in directory: String) throws -> MessageStore {
    var options = StoreOptions(localMember: MemberID(localMember))
    options.worksInBackground = false
    return try MessageStore(path: "\(directory)/chat.msgstore", options: options)
  }

  private func markAllRead(in store: MessageStore) throws {
    var last: ConversationPosition?
    while true {
      let slice = try store.read { try $0.conversations(count: 500, after: last) }
      try store.write(.relaxed) { chat in
        for conversation in slice {
          guard let newest = try chat.thread(conversation.id).tail(1).first else { continue }
          _ = try chat.markRead(conversation.id, upTo: newest.position)
        }
      }
      guard let next = slice.older else { return }
      last = next
    }
  }

  /// Returns the time of each commit of the pruning, in nanoseconds.
  private func commitTimes(of store: MessageStore) throws -> [Double] {
    var times: [Double] = []
    while try store.read({ try $0.hasWork }) {
      let elapsed = try timed {
        try store.write(.relaxed) { chat in try chat.doWork(isTimed: true) }
      }
      times.append(Double(elapsed))
    }
    return times
  }

  /// Returns the ids of the remaining messages of each conversation, after comparing their number
  /// with the rule.
  private func remaining(
    in store: MessageStore, _ ids: [ConversationID], _ counts: [Int]
  ) throws -> [Set<String>] {
    try zip(ids, counts).map { id, count in
      if count == 0 { return [] }
      let expected = count >= Self.minimumCount ? max(count / 10, 1) : count
      let slice = try store.read { try $0.thread(id).tail(count) }
      guard slice.count == expected else {
        throw BenchError("\(name): \(slice.count) messages are left of \(count) in \(id)")
      }
      return Set(slice.map(\.id.string))
    }
  }

  /// Returns a store with these messages of the corpus alone.
  private func newStore(
    of left: [Set<String>], on stage: Stage, in directory: String
  ) throws -> (store: MessageStore, directory: String) {
    let stores = try Stores(
      [.msgstore], corpus: stage.stores.corpus, messageCount: 0, seed: stage.settings.seed,
      directory: directory)
    guard let engine = stores.engines.first else { throw BenchError("\(name): no store") }
    try engine.reset(stores.corpus.conversations)
    var stream = stores.corpus.makeStream()
    let count = stage.settings.messageCount
    for start in stride(from: 0, to: count, by: Stores.batchCount) {
      let messages = stream.next(count: min(Stores.batchCount, count - start)).filter {
        left[$0.conversation].contains($0.id)
      }
      if !messages.isEmpty { _ = try engine.insert(messages) }
    }
    try engine.close()
    let store = try open(in: engine.directory)
    try markAllRead(in: store)
    return (store, engine.directory)
  }

  /// Compacts and closes a store, and returns the bytes of all its files.
  private func compactedByteCount(
    of store: MessageStore, in directory: String
  ) throws -> UInt64 {
    try store.compact()
    try store.checkpoint()
    try store.close()
    return try Files.byteCount(in: directory)
  }
}
