import MsgStore

/// Ten thousand messages at the end of a thread expire at once: the longest commit, and the longest
/// read meanwhile.
///
/// A step of work and a read of the newest 50 take turns. First the counters let the messages go;
/// then a later server time is heard, and they are erased. Each read has to show the messages
/// before them, and none of them. Ours only: the peers leave expiry to the application.
struct Expire: Workload {
  let name = "expire10000"
  let summary = "the longest commit while 10,000 messages expire at once"
  let hasOwnStores = true
  static let readName = "expire10000-read"
  static let readSummary = "the longest read of the newest 50 meanwhile, past those not yet erased"
  private static let messageCount = 10_000
  private static let keptCount = 50
  private static let batchCount = 500
  /// The time of the first message, and that at which messages expire, in microseconds.
  private static let startTime: Int64 = 1_700_000_000_000_000
  private static let endTime = startTime + 3_600_000_000

  func run(on stage: Stage) throws -> [Figure] {
    guard stage.settings.engines.contains(.msgstore) else { return [] }
    var commits: [Round] = []
    var reads: [Round] = []
    for number in 0...stage.settings.roundCount {
      try stage.progress.show("\(name), round \(number) of \(stage.settings.roundCount)")
      let samples = try expire(in: "\(stage.directory)/\(name)")
      if number == 0 { continue }
      commits.append(Self.longest(samples.commits))
      reads.append(Self.longest(samples.reads))
    }
    return Figure.all(of: name, rounds: [.msgstore: commits])
      + Figure.all(of: Self.readName, rounds: [.msgstore: reads])
  }

  private static func longest(_ samples: [Double]) -> Round {
    Round(mean: samples.max() ?? 0, samples: samples, operationCount: samples.count)
  }

  /// Returns the time of each commit and of each read, in nanoseconds.
  private func expire(in directory: String) throws -> (commits: [Double], reads: [Double]) {
    let clock = BenchClock()
    let store = try makeStore(in: directory, clock)
    clock.now = Timestamp(microseconds: Self.endTime)
    var commits: [Double] = []
    var reads: [Double] = []
    for hasHeard in [false, true] {
      if hasHeard {
        clock.now = Timestamp(microseconds: Self.endTime + 1)
        try store.write(.relaxed) { chat in
          try chat.insert(message("news", in: "elsewhere", at: Self.endTime + 1))
        }
      }
      var byteCount: UInt64?
      while store.statistics.walByteCount != byteCount {
        byteCount = store.statistics.walByteCount
        reads.append(try read(store))
        let elapsed = try timed {
          try store.write(.relaxed) { chat in try chat.doWork(isTimed: true) }
        }
        commits.append(Double(elapsed))
      }
    }
    clock.now = Timestamp(microseconds: Self.startTime)
    guard try store.read({ try $0.thread("room").tail(100).count }) == Self.keptCount else {
      throw BenchError("\(name): expired messages were not erased")
    }
    try store.close()
    Files.remove(directory)
    return (commits, reads)
  }

  private func makeStore(in directory: String, _ clock: BenchClock) throws -> MessageStore {
    Files.remove(directory)
    try Files.makeDirectory(directory)
    var options = StoreOptions(localMember: MemberID(localMember), clock: { clock.now })
    options.worksInBackground = false
    let store = try MessageStore(path: "\(directory)/chat.msgstore", options: options)
    clock.now = Timestamp(microseconds: Self.startTime)
    let count = Self.keptCount + Self.messageCount
    for start in stride(from: 0, to: count, by: Self.batchCount) {
      try store.write(.relaxed) { chat in
        for number in start..<min(start + Self.batchCount, count) {
          var some = message(
            "message-\(number)", in: "room", at: Self.startTime + Int64(number) * 1000)
          if number >= Self.keptCount {
            some.expiresAt = Timestamp(microseconds: Self.endTime)
          }
          try chat.insert(some)
        }
      }
    }
    try store.checkpoint()
    return store
  }

  private func message(_ id: String, in conversation: ConversationID, at time: Int64) -> Message {
    Message(
      id: MessageID(id), in: conversation, from: "bob", text: "This is \(id), gone in an hour",
      serverTimestamp: Timestamp(microseconds: time), sequence: (time - Self.startTime) / 1000)
  }

  private func read(_ store: MessageStore) throws -> Double {
    var count = 0
    var hasExpired = false
    let elapsed = try timed {
      try store.read { chat in
        let slice = try chat.thread("room").tail(Self.keptCount)
        count = slice.count
        hasExpired = slice.contains { $0.expiresAt != nil }
      }
    }
    if hasExpired || count != Self.keptCount {
      throw BenchError(
        "\(name): a read shows expired messages, or not the \(Self.keptCount) others")
    }
    return Double(elapsed)
  }
}
