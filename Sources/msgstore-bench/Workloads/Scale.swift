/// `tail50-huge`, `commit-relaxed` and `edit` at 10⁴, 10⁵, 10⁶ (and on request 10⁷) messages, and
/// the ratio of the largest size's time to the smallest's.
///
/// All sizes take turns in each round. A run with few messages leaves out the largest sizes.
struct Scale: Workload {
  let name = "scale"
  let summary = "tail50-huge, commit-relaxed and edit at growing sizes"
  let hasOwnStores = true
  private static let commitCount = 250
  /// The largest size, as a multiple of the messages of a run.
  private static let maximumFactor = 50

  func run(on stage: Stage) throws -> [Figure] {
    let all = [10_000, 100_000, 1_000_000] + (stage.settings.isLarge ? [10_000_000] : [])
    let sizes = all.filter { $0 <= max(all[0], Self.maximumFactor * stage.settings.messageCount) }
    let scaled = try sizes.map { try makeStores(of: $0, on: stage) }
    let tail = try measure(scaled, "tail50-huge", on: stage) { stores, round in
      try stores.round(
        round, blockCount: 1, prepare: { Tail.queries(isHuge: true, on: stores) },
        engine: { engine, queries in try Tail.read(queries, of: name, from: engine) })
    }
    let commit = try measure(scaled, "commit-relaxed", on: stage) { stores, round in
      try stores.round(
        round, blockCount: 2, prepare: { stores.stream.next(count: Self.commitCount) },
        engine: { engine, messages in try messages.map { Double(try engine.insert([$0])) } },
        finish: stores.noteWritten)
    }
    var edits = scaled.map { Edits(on: $0) }
    let edit = try measure(scaled, "edit", on: stage) { stores, round in
      guard let index = scaled.firstIndex(where: { $0 === stores }) else { return [:] }
      return try stores.round(
        round, blockCount: 2, prepare: { edits[index].next(count: Self.commitCount) },
        engine: { engine, edits in try Edit.make(edits, with: engine) },
        finish: { try Edit.check($0, on: stores) })
    }
    for stores in scaled { try stores.close() }
    return tail + commit + edit
  }

  private func makeStores(of size: Int, on stage: Stage) throws -> Stores {
    let stores = try Stores(
      stage.settings.engines.filter { $0 != .limit }, corpus: stage.stores.corpus,
      messageCount: size, seed: stage.settings.seed, directory: "\(stage.directory)/scale-\(size)")
    for engine in stores.engines {
      _ = try stores.fill(engine, count: size) {
        try stage.progress.show("scale, filling \(engine.name.rawValue) to \(size)")
      }
      try engine.use(.relaxed)
    }
    return stores
  }

  private func measure(
    _ all: [Stores], _ workload: String, on stage: Stage,
    round work: (Stores, Int) throws -> [EngineName: Round]
  ) throws -> [Figure] {
    var rounds = all.map { _ in [EngineName: [Round]]() }
    for number in 0...stage.settings.roundCount {
      for (index, stores) in all.enumerated() {
        try stage.progress.show("scale, \(workload), round \(number), \(stores.messageCount)")
        let round = try work(stores, number)
        if number > 0 { rounds[index].merge(round.mapValues { [$0] }) { $0 + $1 } }
      }
    }
    let figures = zip(all, rounds).flatMap { stores, rounds in
      Figure.all(of: "\(name)/\(workload)/\(stores.messageCount)", rounds: rounds)
    }
    return figures + growth(rounds, workload)
  }

  /// Returns the largest size's time divided by the smallest's, round by round.
  private func growth(_ rounds: [[EngineName: [Round]]], _ workload: String) -> [Figure] {
    EngineName.allCases.compactMap { engine in
      guard let small = rounds.first?[engine], let large = rounds.last?[engine] else { return nil }
      let ratios = zip(large, small).map { $0.value / $1.value }
      return Figure(
        engine: engine, workload: "\(name)/\(workload)", unit: Figure.growth,
        median: ratios.median, p99: ratios.quantile(0.99),
        operationCount: large.reduce(0) { $0 + $1.operationCount })
    }
  }
}
