/// What a store takes when its engine has made it as small as it can, and how long that takes.
///
/// The stores are their own, so that all others are read as the import has left them.
struct Compact: Workload {
  let name = "compact"
  let summary = "making a store small after an import, a message of it"
  let hasOwnStores = true
  /// Of the figure with the size afterwards.
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
