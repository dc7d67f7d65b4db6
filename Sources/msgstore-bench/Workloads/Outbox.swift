import MsgStore

/// Sending one message of the local member: it is stored and entered into the outbox in one commit.
///
/// `send-visible` ends when the message is visible to others: twenty are sent one after the other
/// while the disk syncs, and the sync of the last one is awaited before the next block.
/// `send-durable` ends when each message is on the disk, beside a bare write and sync of as many
/// bytes as the median commit writes, block by block. The outbox is emptied after each block,
/// untimed. Ours only: the peers have no outbox.
struct Send: Workload {
  let name: String
  let isDurable: Bool
  let hasOwnStores = true
  var summary: String {
    "one message and its entry in the outbox, " + (isDurable ? "on the disk" : "visible")
  }
  private static let operationCount = 20
  private static let blockCount = 10

  func run(on stage: Stage) throws -> [Figure] {
    guard stage.settings.engines.contains(.msgstore) else { return [] }
    let outbox = try FilledOutbox(directory: "\(stage.directory)/\(name)", entryCount: 0)
    let limit = isDurable ? stage.stores.limit : nil
    limit?.use(writeByteCount: try outbox.commitByteCount())
    let bytes = [UInt8](repeating: 0x5A, count: limit?.writeByteCount ?? 0)
    var rounds: [EngineName: [Round]] = [:]
    for number in 0...stage.settings.roundCount {
      try stage.progress.show("\(name), round \(number) of \(stage.settings.roundCount)")
      var samples: [EngineName: [Double]] = [:]
      for _ in 0..<(number == 0 ? 1 : Self.blockCount) {
        samples[.msgstore, default: []] += try (0..<Self.operationCount).map { _ in
          try outbox.send(untilDurable: isDurable)
        }
        if let limit {
          samples[.limit, default: []] += try (0..<Self.operationCount).map { _ in
            Double(try limit.writeAndSync(bytes))
          }
        }
        try outbox.empty()
      }
      if number > 0 { rounds.merge(samples.mapValues { [Round(samples: $0)] }) { $0 + $1 } }
    }
    try outbox.close()
    return Figure.all(of: name, rounds: rounds)
  }
}

/// Sending one message of the local member while messages from a server are stored in batches of
/// 500 at `relaxed`, one after the other.
///
/// Ends when the message is visible to others. Sends come at random moments, so each waits for the
/// rest of a batch.
struct SendBusy: Workload {
  let name = "send-busy"
  let hasOwnStores = true
  let summary = "the same beside batches of 500 messages, visible"
  private static let operationCount = 100
  private static let maximumPause = 10_000_000

  func run(on stage: Stage) throws -> [Figure] {
    guard stage.settings.engines.contains(.msgstore) else { return [] }
    let outbox = try FilledOutbox(directory: "\(stage.directory)/\(name)", entryCount: 0)
    var random = SeededGenerator(seed: stage.settings.seed)
    outbox.beginBatches()
    var rounds: [Round] = []
    for number in 0...stage.settings.roundCount {
      try stage.progress.show("\(name), round \(number) of \(stage.settings.roundCount)")
      let samples = try (0..<Self.operationCount).map { _ in
        pause(nanoseconds: .random(in: 0..<Self.maximumPause, using: &random))
        return try outbox.send(untilDurable: false)
      }
      try outbox.empty()
      if number > 0 { rounds.append(Round(samples: samples)) }
    }
    try outbox.close()
    return Figure.all(of: name, rounds: [.msgstore: rounds])
  }
}

/// Taking work out of the outbox and finishing it, in one durable commit each, with a fixed number
/// of waiting entries.
struct TakeWork: Workload {
  let entryCount: Int
  let hasOwnStores = true
  var name: String { "next-done-\(entryCount)" }
  var summary: String { "taking work out of an outbox of \(entryCount) and finishing it" }
  private static let operationCount = 100

  func run(on stage: Stage) throws -> [Figure] {
    guard stage.settings.engines.contains(.msgstore) else { return [] }
    let outbox = try FilledOutbox(
      directory: "\(stage.directory)/\(name)", entryCount: entryCount)
    var rounds: [Round] = []
    for number in 0...stage.settings.roundCount {
      try stage.progress.show("\(name), round \(number) of \(stage.settings.roundCount)")
      let samples = try (0..<Self.operationCount).map { _ in try outbox.takeAndFinish() }
      if number > 0 { rounds.append(Round(samples: samples)) }
    }
    try outbox.close()
    return Figure.all(of: name, rounds: [.msgstore: rounds])
  }
}

/// A store of its own whose outbox holds a number of messages in 50 conversations.
private final class FilledOutbox {
  private let store: MessageStore
  private let entryCount: Int
  private var sentCount = 0
  private var last: PendingCommit<Message>?
  private static let conversationCount = 50

  init(directory: String, entryCount: Int) throws {
    Files.remove(directory)
    try Files.makeDirectory(directory)
    var options = StoreOptions(localMember: MemberID(localMember))
    options.createsConversationsOnSend = true
    store = try MessageStore(path: "\(directory)/chat.msgstore", options: options)
    self.entryCount = entryCount
    var left = entryCount
    while left > 0 {
      let count = min(left, 500)
      try store.write(.relaxed) { chat in
        for _ in 0..<count { try chat.send(nextMessage()) }
      }
      left -= count
    }
    try store.checkpoint()
  }

  func close() throws { try store.close() }

  /// Stores messages of others in the background until the store is closed.
  func beginBatches() {
    let (store, count) = (store, Self.conversationCount)
    Task.detached { try await storeBatches(in: store, conversationCount: count) }
  }

  private func nextMessage() -> Message {
    sentCount += 1
    return Message(
      in: ConversationID("conversation-\(sentCount % Self.conversationCount)"),
      from: MemberID(localMember), text: "I will be there in about \(sentCount % 60) minutes")
  }

  /// Returns the number of log bytes that the median send writes.
  func commitByteCount() throws -> Int {
    let byteCounts = try (0..<50).map { _ in
      let before = store.statistics.walByteCount
      _ = try send(untilDurable: true)
      return Double(store.statistics.walByteCount - before)
    }
    try empty()
    return Int(byteCounts.median)
  }

  func send(untilDurable isDurable: Bool) throws -> Double {
    let message = nextMessage()
    var sent: PendingCommit<Message>?
    let elapsed = try timed {
      let visible = try store.send(message)
      if isDurable { try visible.waitUntilDurable() }
      sent = visible
    }
    guard let sent, sent.value.text == message.text else {
      throw BenchError("send: the sent message differs from the written one")
    }
    last = sent
    return Double(elapsed)
  }

  /// Finishes all waiting work.
  func empty() throws {
    try last?.waitUntilDurable()
    try store.write { chat in
      while let item = try chat.outbox.next(for: "bench") { try chat.outbox.complete(item) }
    }
  }

  /// Takes the next message out and finishes it; another one takes its place.
  func takeAndFinish() throws -> Double {
    var text = ""
    let elapsed = try timed {
      try store.write(.relaxed) { chat in
        guard let item = try chat.outbox.next(for: "bench") else { return }
        if case .send(let message) = item.task { text = message.text }
        try chat.outbox.complete(item)
      }
    }
    if text.isEmpty { throw BenchError("outbox: handed out no message") }
    try store.write(.relaxed) { chat in try chat.send(nextMessage()) }
    guard try store.read({ try $0.outbox.counts().total }) == entryCount else {
      throw BenchError("outbox: does not hold \(entryCount) entries")
    }
    return Double(elapsed)
  }
}

/// Stores batches of 500 messages, one after the other.
private func storeBatches(in store: MessageStore, conversationCount: Int) async throws {
  for batch in 0... {
    try await store.write(.relaxed) { chat in
      for number in batch * 500..<(batch + 1) * 500 {
        try chat.insert(
          Message(
            id: MessageID("server-\(number)"),
            in: ConversationID("conversation-\(number % conversationCount)"),
            from: "bob", text: "It is number \(number) and not the last one",
            serverTimestamp: Timestamp(microseconds: 1_700_000_000_000_000 + Int64(number)),
            sequence: Int64(number)))
      }
    }
  }
}
