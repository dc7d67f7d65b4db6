/// A store of each engine with the same messages, and the record of their contents.
final class Stores {
  /// The number of messages that an import puts into one transaction.
  static let batchCount = 500

  let corpus: any Corpus
  let messageCount: Int
  private let seed: UInt64
  let engines: [any Engine]
  /// Other readers of the engines' stores.
  let variants: [any TailReader]
  let limit: LimitEngine?
  private(set) var reference: Reference
  /// The messages that follow those of the import.
  var stream: any MessageStream
  var generator: SeededGenerator

  /// Creates the engines, each with a directory of its own in `directory`; no store is filled yet.
  init(
    _ names: [EngineName], corpus: any Corpus, messageCount: Int, seed: UInt64, directory: String
  ) throws {
    self.corpus = corpus
    self.messageCount = messageCount
    self.seed = seed
    try Files.makeDirectory(directory)
    engines = try names.compactMap { name in
      let home = "\(directory)/\(name.rawValue)"
      guard let engine = name.makeEngine(directory: home, corpus.conversations.map(\.id)) else {
        return nil
      }
      try Files.makeDirectory(home)
      return engine
    }
    variants = engines.flatMap(\.variants).filter { names.contains($0.name) }
    limit = names.contains(.limit) ? try LimitEngine(directory: directory) : nil
    generator = SeededGenerator(seed: seed &+ 1)
    reference = Reference(corpus.conversations)
    stream = corpus.makeStream()
    for _ in 0..<messageCount { reference.append(stream.next()) }
    reference.endImport()
  }

  func close() throws {
    for engine in engines { try engine.close() }
  }

  /// Imports the corpus into a fresh store of `engine` and returns the nanoseconds of each batch.
  ///
  /// A few messages arrive late if the corpus says so; see `LateArrivals`.
  func fill(_ engine: any Engine, count: Int, after batch: () throws -> Void) throws -> [UInt64] {
    try engine.reset(corpus.conversations)
    var stream = corpus.makeStream()
    var late = LateArrivals(seed: seed)
    var times: [UInt64] = []
    for start in stride(from: 0, to: count, by: Self.batchCount) {
      var next = stream.next(count: min(Self.batchCount, count - start))
      let isLast = start + Self.batchCount >= count
      if corpus.hasLateArrivals { next = late.arrivals(of: next, isLast: isLast) }
      times.append(try engine.insert(next))
      try batch()
    }
    try engine.checkpoint()
    return times
  }

  // MARK: The account

  func noteWritten(_ messages: [ChatMessage]) {
    reference.append(messages)
  }

  func noteEdited(_ old: ChatMessage, _ new: ChatMessage) {
    reference.replace(old, by: new)
  }

  func noteMuted(_ conversations: [Int]) {
    for conversation in conversations { reference.mute(conversation) }
  }

  func noteRead(_ conversation: Int) {
    reference.markRead(conversation)
  }

  /// Reads every thread of every engine and compares each byte of each message.
  func verify() throws {
    for engine in engines {
      for (conversation, thread) in reference.threads.enumerated() {
        guard try engine.fingerprint(of: conversation) == thread.fingerprint else {
          let id = corpus.conversations[conversation].id
          throw BenchError("\(engine.name.rawValue): thread \(id): differs from what was written")
        }
      }
    }
  }

  // MARK: Turns

  /// Runs one round: `blockCount` times, inputs are made and every engine works on them in turn.
  ///
  /// The order changes from block to block, so that a noisy machine affects all alike. Round 0 is
  /// not counted: it compares every byte that is read.
  func round<Input>(
    _ number: Int, blockCount: Int, operationsPerSample: Int = 1, prepare: () throws -> Input,
    engine work: (any Engine, Input) throws -> [Double],
    others: [Turn<Input>] = [], finish: (Input) throws -> Void = { _ in }
  ) throws -> [EngineName: Round] {
    for reader in engines + variants { reader.isExact = number == 0 }
    var samples: [EngineName: [Double]] = [:]
    let turnCount = engines.count + others.count
    for block in 0..<blockCount {
      let input = try prepare()
      for step in 0..<turnCount {
        let index = (step + block + number) % turnCount
        if index < engines.count {
          samples[engines[index].name, default: []] += try work(engines[index], input)
        } else {
          let other = others[index - engines.count]
          samples[other.name, default: []] += try other.work(input)
        }
      }
      try finish(input)
    }
    // An engine that does not take part in a workload yields no samples.
    return samples.filter { !$0.value.isEmpty }.mapValues {
      Round(samples: $0, operationsPerSample: operationsPerSample)
    }
  }
}

/// A participant that takes turns with the engines in a workload, and its work.
struct Turn<Input> {
  var name: EngineName
  var work: (Input) throws -> [Double]
}

extension EngineName {
  /// Creates an engine with its store in `directory`; nil for readers of another engine's store.
  func makeEngine(
    directory: String, _ conversationIDs: [String], cache: CacheSize = .normal
  ) -> (any Engine)? {
    switch self {
    case .msgstore:
      MsgStoreEngine(self, directory: directory, conversationIDs: conversationIDs, cache: cache)
    #if Encryption
      case .msgstoreEncrypted:
        MsgStoreEngine(self, directory: directory, conversationIDs: conversationIDs, cache: cache)
    #endif
    case .sqlite, .sqliteTime, .sqliteWords, .sqliteTrigrams:
      SQLiteEngine(
        self, directory: directory, cache: cache,
        searching: SQLiteSearch.allCases.first { $0.engine == self } ?? .rows)
    #if SQLCipher
      case .sqlcipher: SQLiteEngine(self, directory: directory, cache: cache, key: sqliteKey)
    #endif
    #if Peers
      case .grdb: GRDBEngine(directory: directory, cache: cache)
      case .lmdb: LMDBEngine(directory: directory)
      case .grdbCodable, .lmdbBytes: nil
    #endif
    case .limit: nil
    }
  }
}
