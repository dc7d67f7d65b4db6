/// The cost of being able to search: index bytes and import time; and the share of messages that
/// are found with parts of texts.
struct SearchCost: Workload {
  let name = "search-index"
  let summary = "bytes a message of what only the search needs"
  let hasOwnStores = true
  static let importName = "search-import"
  static let recallName = "search-recall"

  func run(on stage: Stage) throws -> [Figure] {
    let trial = try stage.searchTrial()
    let messageCount = stage.settings.messageCount
    func figure(
      _ workload: String, _ unit: String, _ count: Int, _ engine: any SearchEngine, _ value: Double
    ) -> Figure {
      Figure(
        engine: engine.name, workload: workload, unit: unit, median: value, p99: value,
        operationCount: count)
    }
    return try trial.engines.flatMap { engine in
      [
        figure(
          name, Figure.perMessage, messageCount, engine,
          Double(try engine.indexByteCount) / Double(messageCount)),
        figure(
          Self.importName, Figure.perOperation, messageCount, engine,
          trial.importTimes[engine.name] ?? 0),
        figure(
          Self.recallName, Figure.share, trial.terms.drawn.count, engine,
          try trial.recall(of: engine, trial.terms.drawn)),
      ]
    }
  }
}
