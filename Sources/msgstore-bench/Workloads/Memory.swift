/// The peak resident bytes of a fresh process that opens the store and reads 10,000 tails of random
/// conversations.
///
/// `memory` runs with the same cache as everything else, `memory-small` with the smallest cache.
///
/// The process is this program again, with the hidden command `read-tails`. The figure includes its
/// own code and libraries, and the touched pages of any mapped file. GRDB's libraries take several
/// MiB; a build without them keeps these out of the other engines' figures.
///
/// On request the workload uses stores of its own, filled until ours reaches a given size on disk.
struct Memory: Workload {
  let name = "memory"
  let summary = "peak resident bytes of a process that opens the store and reads 10,000 tails"
  /// The name of the figure with the smallest cache.
  static let smallName = "memory-small"
  static let tailCount = 10_000
  /// The largest number of conversations given to the child, whose memory includes their names.
  private static let maximumConversationCount = 1_000

  func run(on stage: Stage) throws -> [Figure] {
    guard let byteCount = stage.settings.memoryByteCount else {
      return try stage.withStoresClosed { try measure(stage.stores, on: stage) }
    }
    let stores = try makeStores(of: byteCount, on: stage)
    defer { Files.remove("\(stage.directory)/\(name)") }
    try stores.close()
    return try measure(stores, on: stage)
  }

  /// Fills stores with the same messages until the first has `byteCount` bytes.
  private func makeStores(of byteCount: UInt64, on stage: Stage) throws -> Stores {
    let stores = try Stores(
      stage.settings.engines.filter { $0 != .limit }, corpus: stage.stores.corpus,
      messageCount: 0, seed: stage.settings.seed, directory: "\(stage.directory)/\(name)")
    for engine in stores.engines { try engine.reset(stores.corpus.conversations) }
    guard let first = stores.engines.first else { return stores }
    while try Files.byteCount(in: first.directory) < byteCount {
      try stage.progress.show("\(name), filling to \(byteCount >> 20) MiB")
      for _ in 0..<20 {
        let messages = stores.stream.next(count: Stores.batchCount)
        for engine in stores.engines { _ = try engine.insert(messages) }
        stores.noteWritten(messages)
      }
    }
    for engine in stores.engines { try engine.checkpoint() }
    return stores
  }

  /// Measures closed stores.
  private func measure(_ stores: Stores, on stage: Stage) throws -> [Figure] {
    let conversations = stores.corpus.conversations.prefix(Self.maximumConversationCount).map(\.id)
    let namesPath = "\(stage.directory)/conversations"
    try Files.write(conversations.joined(separator: "\0"), to: namesPath)
    let expected = ReadTails.expected(
      stores.reference, conversationCount: conversations.count, seed: stage.settings.seed)
    return try [(name, CacheSize.normal), (Self.smallName, .smallest)].flatMap { name, cache in
      var rounds: [EngineName: [Round]] = [:]
      for number in 1...stage.settings.roundCount {
        for engine in stores.engines {
          try stage.progress.show("\(name), round \(number), \(engine.name.rawValue)")
          let peak = try peakByteCount(
            engine, cache, namesPath: namesPath, seed: stage.settings.seed, expected: expected,
            stage)
          rounds[engine.name, default: []].append(
            Round(mean: Double(peak), operationCount: Self.tailCount))
        }
      }
      return Figure.all(of: name, unit: Figure.byte, rounds: rounds)
    }
  }

  private func peakByteCount(
    _ engine: any Engine, _ cache: CacheSize, namesPath: String, seed: UInt64, expected: UInt64,
    _ stage: Stage
  ) throws -> UInt64 {
    let resultPath = "\(stage.directory)/peak"
    let arguments = [
      ReadTails.name, engine.name.rawValue, cache.rawValue, engine.directory, namesPath,
      resultPath, String(seed),
    ]
    try ChildProcess.run(
      arguments, program: engine.name.isInNormalBuild ? stage.settings.normalProgram : nil)
    let result = String(decoding: try Files.read(resultPath), as: UTF8.self)
    let numbers = result.split(separator: " ").compactMap { UInt64($0) }
    guard numbers.count == 2, numbers[1] == expected else {
      throw BenchError(
        "memory: the process for \(engine.name.rawValue) read the wrong count")
    }
    return numbers[0]
  }
}
