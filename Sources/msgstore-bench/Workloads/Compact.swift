/// The size of a store after its engine has made it as small as it can, and the time that takes.
///
/// Uses stores of its own, so that all others are read as the import has left them.
struct Compact: Workload {
  let name = "compact"
  let summary = "compacting a store after an import, per message"
  let hasOwnStores = true
  /// The name of the figure with the size afterwards.
  static let sizeName = "size-compact"

  func run(on stage: Stage) throws -> [Figure] {
    let stores = try Stores(
      stage.settings.engines.filter { $0 != .limit }, corpus: stage.stores.corpus,
      messageCount: stage.settings.messageCount, seed: stage.settings.seed,
      directory: "\(stage.directory)/\(name)")
    defer { Files.remove("\(stage.directory)/\(name)") }
    let count = stores.messageCount
    var times: [EngineName: [Round]] = [:]
    var sizes: [EngineName: [Round]] = [:]
    for engine in stores.engines {
      _ = try stores.fill(engine, count: count) {
        try stage.progress.show("\(name), filling \(engine.name.rawValue)")
      }
      let start = nanoseconds()
      guard try engine.compact() else { continue }
      let time = Double(nanoseconds() - start)
      try engine.checkpoint()
      let byteCount = Double(try Files.byteCount(in: engine.directory))
      times[engine.name] = [Round(mean: time / Double(count), operationCount: count)]
      sizes[engine.name] = [Round(mean: byteCount / Double(count), operationCount: count)]
    }
    try stores.verify()
    try stores.close()
    return Figure.all(of: name, rounds: times)
      + Figure.all(of: Self.sizeName, unit: Figure.perMessage, rounds: sizes)
  }
}
