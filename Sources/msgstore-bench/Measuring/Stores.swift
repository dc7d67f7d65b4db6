/// The same messages in a store of each engine, and the account of what is in them.
final class Stores {
  /// How many messages an import puts into one transaction.
  static let batchCount = 500

  let corpus: any Corpus
  let messageCount: Int
  let engines: [any Engine]
  let limit: LimitEngine?
  private(set) var reference: Reference
  /// What comes after the messages of the import.
  var stream: any MessageStream
  var generator: SeededGenerator

  /// Makes the engines, each with a directory of its own in `directory`; no store is filled yet.
  init(
    _ names: [EngineName], corpus: any Corpus, messageCount: Int, seed: UInt64, directory: String
  ) throws {
    self.corpus = corpus
    self.messageCount = messageCount
    try Files.makeDirectory(directory)
    engines = try names.compactMap { name in
      let home = "\(directory)/\(name.rawValue)"
      guard let engine = name.makeEngine(directory: home, corpus.conversations.map(\.id)) else {
        return nil
      }
      try Files.makeDirectory(home)
      return engine
    }
    limit = names.contains(.limit) ? try LimitEngine(directory: directory) : nil
    generator = SeededGenerator(seed: seed &+ 1)
    reference = Reference(corpus.conversations)
    stream = corpus.makeStream()
    for _ in 0..<messageCount { reference.append(stream.next()) }
  }

  func close() throws {
    for engine in engines { try engine.close() }
  }

  /// Imports the corpus into a fresh store of `engine`; gives the nanoseconds of each batch.
  func fill(_ engine: any Engine, count: Int, after batch: () throws -> Void) throws -> [UInt64] {
    try engine.reset(corpus.conversations)
    var stream = corpus.makeStream()
    var times: [UInt64] = []
    for start in stride(from: 0, to: count, by: Self.batchCount) {
      times.append(try engine.insert(stream.next(count: min(Self.batchCount, count - start))))
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
          throw BenchError("\(engine.name.rawValue): thread \(id) is not what was written")
        }
      }
    }
  }

  // MARK: Turns

  /// One round: `blockCount` times, inputs are made and every engine works on them in its turn,
  /// in an order that changes from block to block, so that a noisy machine harms all alike.
  func round<Input>(
    _ number: Int, blockCount: Int, operationsPerSample: Int = 1, prepare: () throws -> Input,
    engine work: (any Engine, Input) throws -> [Double],
    limit limitWork: ((LimitEngine, Input) throws -> [Double])? = nil,
    finish: (Input) throws -> Void = { _ in }
  ) throws -> [EngineName: Round] {
    var samples: [EngineName: [Double]] = [:]
    let participantCount = engines.count + (limitWork == nil || limit == nil ? 0 : 1)
    for block in 0..<blockCount {
      let input = try prepare()
      for turn in 0..<participantCount {
        let participant = (turn + block + number) % participantCount
        if participant < engines.count {
          let engine = engines[participant]
          samples[engine.name, default: []] += try work(engine, input)
        } else if let limit, let limitWork {
          samples[.limit, default: []] += try limitWork(limit, input)
        }
      }
      try finish(input)
    }
    return samples.mapValues { Round(samples: $0, operationsPerSample: operationsPerSample) }
  }
}

extension EngineName {
  /// An engine with its store in `directory`; the limit is none.
  func makeEngine(directory: String, _ conversationIDs: [String]) -> (any Engine)? {
    switch self {
    case .msgstore: MsgStoreEngine(directory: directory, conversationIDs: conversationIDs)
    case .sqlite: SQLiteEngine(directory: directory)
    case .limit: nil
    }
  }
}

extension Digest {
  /// Makes sure that a read gave back what was written.
  func check(is expected: Digest, of workload: String, by engine: any Engine) throws {
    guard self == expected else {
      throw BenchError(
        "\(engine.name.rawValue), \(workload): read \(count), not the \(expected.count) expected"
          + (count == expected.count ? ", or other ones" : ""))
    }
  }
}
