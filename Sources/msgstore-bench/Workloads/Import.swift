/// One message, in transactions of 500, relaxed.
///
/// A round imports the whole corpus into a fresh store. Its figure is the mean, because a median
/// would leave out the batches that include a checkpoint. The percentile is over batches.
struct Import: Workload {
  let name = "import"
  let summary = "one message, in transactions of 500, relaxed"
  private static let warmUpCount = 10_000

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    var rounds: [EngineName: [Round]] = [:]
    for number in 0...stage.settings.roundCount {
      let count = number == 0 ? min(Self.warmUpCount, stores.messageCount) : stores.messageCount
      for turn in stores.engines.indices {
        let engine = stores.engines[(turn + number) % stores.engines.count]
        let times = try stores.fill(engine, count: count) {
          try stage.progress.show("import, round \(number), \(engine.name.rawValue)")
        }
        guard number > 0 else { continue }
        let round = Round(
          mean: Double(times.reduce(0, +)) / Double(count),
          samples: times.map { Double($0) / Double(Stores.batchCount) }, operationCount: count)
        rounds[engine.name, default: []].append(round)
      }
    }
    try stores.verify()
    return Figure.all(of: name, rounds: rounds)
  }
}
