/// The cost of reads when nothing of the store is in the operating system's cache: bytes fetched
/// from storage, and pages asked for.
///
/// For each reading the files of an engine are dropped from the cache, and a fresh process opens
/// them, reads the newest 50 of a conversation, the 50 before them, and one message by its id.
/// SQLite reads its file by calls here and does not map it: of a map the system fetches far more
/// than is asked for, and does not say which pages were. The process is this program again, with
/// the hidden command `read-cold`. Pages do not depend on the machine; bytes do by its read-ahead.
struct Cold: Workload {
  let name = "cold-open-tail50"
  let summary = "bytes fetched to open a store that is not in the cache and read one tail"
  static let others = [
    ("cold-older50", "bytes fetched for the 50 messages before that tail"),
    ("cold-get-by-id", "bytes fetched for one message by its id after that"),
  ]
  static let pagesSuffix = "-pages"
  private static let readingCount = 20

  private struct Query {
    var conversation: Int
    var key: MessageKey
    var expected: [Digest]
  }

  func run(on stage: Stage) throws -> [Figure] {
    guard FileCache.isControllable else { return [] }
    let stores = stage.stores
    let queries = self.queries(on: stores)
    let namesPath = "\(stage.directory)/conversations"
    try Files.write(
      stores.corpus.conversations.map(\.id).joined(separator: "\0"), to: namesPath)
    let steps = [name] + Self.others.map(\.0)
    var bytes: [[EngineName: [Round]]] = Array(repeating: [:], count: steps.count)
    var pages = bytes
    try stage.withStoresClosed {
      for (number, query) in queries.enumerated() {
        for engine in stores.engines {
          try stage.progress.show("\(name), reading \(number), \(engine.name.rawValue)")
          try makeCold(engine)
          for (step, use) in try read(query, by: engine, namesPath, stage).enumerated() {
            bytes[step][engine.name, default: []].append(
              Round(mean: use.bytes, operationCount: 1))
            pages[step][engine.name, default: []].append(
              Round(mean: use.pages, operationCount: 1))
          }
        }
      }
    }
    return steps.indices.flatMap { step in
      figures(of: steps[step], Figure.perRead, bytes[step])
        + figures(of: steps[step] + Self.pagesSuffix, Figure.pages, pages[step])
    }
  }

  /// Returns figures that are the mean of all readings, since each reads something else.
  private func figures(
    of name: String, _ unit: String, _ rounds: [EngineName: [Round]]
  ) -> [Figure] {
    let means = rounds.mapValues { rounds in
      [
        Round(
          mean: rounds.reduce(0) { $0 + $1.value } / Double(rounds.count),
          samples: rounds.map(\.value), operationCount: rounds.count)
      ]
    }
    return Figure.all(of: name, unit: unit, rounds: means)
  }

  /// Draws messages of the threads that have two screens of them.
  private func queries(on stores: Stores) -> [Query] {
    var generator = SeededGenerator(seed: 0xC01D)
    var stream = stores.corpus.makeStream()
    let threads = stores.reference.threads
    let sizes = threads.map { $0.entries.count >= 2 * Tail.count ? $0.entries.count : 0 }
    let candidateCount = sizes.reduce(0, +)
    guard candidateCount > 0 else { return [] }
    let wanted = Set((0..<Self.readingCount).map { _ in generator.index(below: candidateCount) })
    var number = -1
    return (0..<stores.messageCount).compactMap { _ in
      let message = stream.next()
      guard sizes[message.conversation] > 0 else { return nil }
      number += 1
      guard wanted.contains(number) else { return nil }
      let conversation = message.conversation
      let end = threads[conversation].entries.count
      let index = Int(message.sequence ?? 1) - 1
      return Query(
        conversation: conversation,
        key: MessageKey(id: message.id, conversation: conversation),
        expected: [
          stores.reference.tail(Tail.count, of: conversation),
          stores.reference.messages(
            end - 2 * Tail.count..<end - Tail.count, of: conversation),
          stores.reference.messages(index..<index + 1, of: conversation),
        ])
    }
  }

  /// Drops an engine's files from the cache, and makes sure of it.
  private func makeCold(_ engine: any Engine) throws {
    for _ in 0..<20 {
      try FileCache.drop(engine.directory)
      if try FileCache.pageCount(of: engine.directory) == 0 { return }
      pause(nanoseconds: 50_000_000)
    }
    throw BenchError("\(engine.name.rawValue), \(name): the store stays in the cache")
  }

  private func read(
    _ query: Query, by engine: any Engine, _ namesPath: String, _ stage: Stage
  ) throws -> [(bytes: Double, pages: Double)] {
    let resultPath = "\(stage.directory)/cold-result"
    let expected = query.expected.map { "\($0.count) \($0.value)" }.joined(separator: " ")
    try ChildProcess.run(
      [
        // An id may begin with a hyphen.
        ReadCold.name, "--", engine.name.rawValue, engine.directory, namesPath, resultPath,
        String(query.conversation), query.key.id, expected,
      ], program: engine.name.isInNormalBuild ? stage.settings.normalProgram : nil)
    let numbers = String(decoding: try Files.read(resultPath), as: UTF8.self)
      .split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 2 * query.expected.count else {
      throw BenchError("\(engine.name.rawValue), \(name): no result")
    }
    return stride(from: 0, to: numbers.count, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
  }
}
