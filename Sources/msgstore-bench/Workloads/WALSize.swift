/// WAL bytes per durable commit of one message, padding and page images included, over 20,000
/// commits to conversations drawn as in the corpus.
///
/// Ours come from the store's statistics. SQLite's are the frames that its hook reports after each
/// commit, at 24 bytes and a page each, across all checkpoints. LMDB has no WAL.
struct WALSize: Workload {
  let name = "wal-size"
  let summary = "WAL bytes per commit-full, over at most 20,000 commits"
  private static let maximumCommitCount = 20_000
  private static let blockCount = 100

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let commitCount = min(Self.maximumCommitCount, stores.messageCount)
    for engine in stores.engines { try engine.use(.full) }
    let before = try stores.engines.map { try $0.walByteCount ?? 0 }
    for start in stride(from: 0, to: commitCount, by: Self.blockCount) {
      try stage.progress.show("\(name), \(start) of \(commitCount) commits")
      let messages = stores.stream.next(count: min(Self.blockCount, commitCount - start))
      for engine in stores.engines {
        for message in messages { _ = try engine.insert([message]) }
      }
      stores.noteWritten(messages)
    }
    var rounds: [EngineName: [Round]] = [:]
    for (engine, before) in zip(stores.engines, before) {
      guard let after = try engine.walByteCount else { continue }
      let byteCount = Double(after - before)
      rounds[engine.name] = [
        Round(mean: byteCount / Double(commitCount), operationCount: commitCount)
      ]
    }
    return Figure.all(of: name, unit: Figure.perCommit, rounds: rounds)
  }
}
