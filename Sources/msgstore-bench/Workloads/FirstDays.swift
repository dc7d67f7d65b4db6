/// Stores as they are in a client's first days: history fetched, a first sync, little in them.
///
/// Each workload fills stores of its own with messages chosen from the corpus, or with made-up ones
/// where it has too few threads.
struct FirstDays {
  let stores: Stores
  private let stage: Stage
  private let name: String

  init(_ name: String, _ corpus: ChosenCorpus, on stage: Stage) throws {
    self.stage = stage
    self.name = name
    stores = try Stores(
      stage.settings.engines.filter { $0 != .limit }, corpus: corpus,
      messageCount: corpus.messages.count, seed: stage.settings.seed,
      directory: "\(stage.directory)/\(name)")
  }

  /// Returns threads of at least `messageCount` messages: those of the corpus, or made-up ones.
  static func threads(_ count: Int, of messageCount: Int, on stage: Stage) -> CorpusThreads {
    let settings = stage.settings
    let count = min(count, settings.messageCount / 10)
    var own = CorpusThreads(of: stage.stores.corpus, messageCount: settings.messageCount)
    own.keep(count, of: messageCount)
    return own.threads.count >= count / 2
      ? own : CorpusThreads(madeUp: count, of: messageCount, seed: settings.seed)
  }

  /// Fills the stores in rounds, and returns the time of a message in batches of history.
  ///
  /// - Parameters:
  ///   - newest: The messages that are there before the clock starts.
  ///   - batches: The batches, a transaction each.
  func time(after newest: [ChatMessage] = [], _ batches: [[ChatMessage]]) throws -> [Figure] {
    let count = batches.reduce(0) { $0 + $1.count }
    var rounds: [EngineName: [Round]] = [:]
    for number in 0..<stage.settings.roundCount {
      for turn in stores.engines.indices {
        let engine = stores.engines[(turn + number) % stores.engines.count]
        try engine.reset(stores.corpus.conversations)
        if !newest.isEmpty { _ = try engine.insert(newest) }
        var times: [UInt64] = []
        for batch in batches {
          try stage.progress.show("\(name), round \(number + 1), \(engine.name.rawValue)")
          times.append(try engine.insertHistory(batch))
        }
        rounds[engine.name, default: []].append(
          Round(
            mean: Double(times.reduce(0, +)) / Double(count),
            samples: zip(times, batches).map { Double($0) / Double($1.count) },
            operationCount: count))
      }
    }
    try finish()
    return Figure.all(of: name, rounds: rounds)
  }

  /// Imports everything, and returns the bytes on disk, for each of `divisor`.
  func size(dividedBy divisor: Int, unit: String) throws -> [Figure] {
    var rounds: [EngineName: [Round]] = [:]
    for engine in stores.engines {
      _ = try stores.fill(engine, count: stores.messageCount) {
        try stage.progress.show("\(name), \(engine.name.rawValue)")
      }
      let byteCount = Double(try Files.byteCount(in: engine.directory))
      rounds[engine.name] = [
        Round(mean: byteCount / Double(divisor), operationCount: stores.messageCount)
      ]
    }
    try finish()
    return Figure.all(of: name, unit: unit, rounds: rounds)
  }

  private func finish() throws {
    try stores.verify()
    try stores.close()
    Files.remove("\(stage.directory)/\(name)")
  }
}
