/// Peak resident bytes of a fresh process that opens the store and reads 10,000 tails of random
/// conversations.
///
/// The process is this program again, with the hidden command `read-tails`; its own code and
/// libraries are in the figure.
struct Memory: Workload {
  let name = "memory"
  static let tailCount = 10_000
  /// The child knows this many conversations at most: their names are part of its memory.
  private static let conversationCountMax = 1_000

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let conversations = stores.corpus.conversations.prefix(Self.conversationCountMax).map(\.id)
    let namesPath = "\(stage.directory)/conversations"
    try Files.write(conversations.joined(separator: "\0"), to: namesPath)
    let expected = ReadTails.expected(
      stores.reference, conversationCount: conversations.count, seed: stage.settings.seed)
    return try stage.withStoresClosed {
      var rounds: [EngineName: [Round]] = [:]
      for number in 1...stage.settings.roundCount {
        for engine in stores.engines {
          try stage.progress.show("memory, round \(number), \(engine.name.rawValue)")
          let peak = try peakByteCount(
            engine, namesPath: namesPath, seed: stage.settings.seed, expected: expected, stage)
          rounds[engine.name, default: []].append(
            Round(mean: Double(peak), operationCount: Self.tailCount))
        }
      }
      return Figure.all(of: name, unit: "bytes", rounds: rounds)
    }
  }

  private func peakByteCount(
    _ engine: any Engine, namesPath: String, seed: UInt64, expected: UInt64, _ stage: Stage
  ) throws -> UInt64 {
    let resultPath = "\(stage.directory)/peak"
    try ChildProcess.run([
      ReadTails.name, engine.name.rawValue, engine.directory,
      namesPath, resultPath, String(seed),
    ])
    let result = String(decoding: try Files.read(resultPath), as: UTF8.self)
    let numbers = result.split(separator: " ").compactMap { UInt64($0) }
    guard numbers.count == 2, numbers[1] == expected else {
      throw BenchError(
        "memory: the process that reads from \(engine.name.rawValue) read too little")
    }
    return numbers[0]
  }
}
