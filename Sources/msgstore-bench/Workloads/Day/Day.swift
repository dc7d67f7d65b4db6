/// A busy user's day in one process: CPU time, bytes written, and bytes read.
///
/// The process is this program again, with the hidden command `run-day`. It makes the script of the
/// day from the seed, before it begins to count, opens the store, and does what the script says;
/// see `DayScript`. All commits are relaxed. Every read is compared with what was written, and when
/// the counting is over so is every message.
///
/// The day begins with the store's files out of the operating system's cache.
struct Day: Workload {
  let name = "day"
  let summary = "CPU time of a day: 10,000 messages received, 300 sent, 2,000 threads opened …"
  let hasOwnStores = true
  static let writtenName = "day-written"
  static let storedName = "day-stored"
  static let readName = "day-read"
  static let callsName = "day-calls"

  func run(on stage: Stage) throws -> [Figure] {
    let directory = "\(stage.directory)/\(name)"
    defer { Files.remove(directory) }
    let stores = try Stores(
      stage.settings.engines.filter { $0 != .limit }, corpus: stage.stores.corpus,
      messageCount: stage.settings.messageCount, seed: stage.settings.seed, directory: directory)
    var rounds: [String: [EngineName: [Round]]] = [:]
    for number in 1...stage.settings.roundCount {
      for engine in stores.engines {
        for reader in [engine.name] + Self.otherReaders(of: engine) {
          try stage.progress.show("\(name), round \(number), \(reader.rawValue)")
          _ = try stores.fill(engine, count: stores.messageCount) {
            try stage.progress.show("\(name), filling \(engine.name.rawValue)")
          }
          try engine.close()
          for (figure, value) in try measure(engine, reader, directory, stage) {
            rounds[figure, default: [:]][reader, default: []]
              .append(Round(mean: value, operationCount: 1))
          }
        }
      }
    }
    let units = [
      (name, Figure.perDay), (Self.writtenName, Figure.byte), (Self.storedName, Figure.byte),
      (Self.readName, Figure.byte), (Self.callsName, Figure.count),
    ]
    return units.flatMap { Figure.all(of: $0, unit: $1, rounds: rounds[$0] ?? [:]) }
  }

  /// Returns the other ways to read an engine's store that make the same values.
  private static func otherReaders(of engine: any Engine) -> [EngineName] {
    #if Peers
      engine.variants.map(\.name).filter { $0 != .lmdbBytes }
    #else
      []
    #endif
  }

  /// Runs the day in a fresh process on a closed store.
  private func measure(
    _ engine: any Engine, _ reader: EngineName, _ directory: String, _ stage: Stage
  ) throws -> [(String, Double)] {
    try FileCache.drop(engine.directory)
    let resultPath = "\(stage.directory)/day-result"
    let settings = stage.settings
    try ChildProcess.run(
      [
        RunDay.name, engine.name.rawValue, reader.rawValue, directory, resultPath,
        String(settings.messageCount), String(settings.seed),
        String(stage.stores.corpus.conversations.count), settings.hasExtras ? "1" : "0",
      ] + (settings.corpusPath.map { [$0] } ?? []),
      program: engine.name.isInNormalBuild ? settings.normalProgram : nil)
    let numbers = String(decoding: try Files.read(resultPath), as: UTF8.self)
      .split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 5 else { throw BenchError("day: no result of \(reader.rawValue)") }
    let names = [name, Self.writtenName, Self.storedName, Self.readName, Self.callsName]
    // A system that does not count something leaves it at zero.
    return zip(names, numbers).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
  }
}
