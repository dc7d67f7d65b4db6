/// Bytes written to any file per message, over at most 100,000 relaxed single-message commits and a
/// final checkpoint.
///
/// The operating system counts the bytes passed to write calls. The count covers everything that an
/// engine writes to the data file, the log or other files, including overwrites of erased data.
/// Only SQLite's index of its WAL file is missing: it is shared memory, without write calls.
/// Engines run one after the other, since their threads share the count.
///
/// Each write costs energy by its bytes and by its call: `written-calls` counts the read and write
/// calls of the same commits. Calls that transfer nothing, such as locks and syncs, do not count.
struct Written: Workload {
  let name = "written"
  static let callsName = "written-calls"
  let summary = "bytes written to any file per message, over at most 100,000 commits"
  private static let maximumCommitCount = 100_000
  private static let blockCount = 500

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let commitCount = min(Self.maximumCommitCount, 2 * stores.messageCount)
    for engine in stores.engines {
      try engine.use(.relaxed)
      try engine.checkpoint()
    }
    let beginning = stores.stream
    var rounds: [EngineName: [Round]] = [:]
    var calls: [EngineName: [Round]] = [:]
    for engine in stores.engines {
      stores.stream = beginning
      let before = try ProcessUse.now()
      for start in stride(from: 0, to: commitCount, by: Self.blockCount) {
        try stage.progress.show("\(name), \(engine.name.rawValue), \(start) of \(commitCount)")
        let messages = stores.stream.next(count: min(Self.blockCount, commitCount - start))
        for message in messages { _ = try engine.insert([message]) }
        if engine === stores.engines.last { stores.noteWritten(messages) }
      }
      try engine.checkpoint()
      let use = try ProcessUse.now() - before
      rounds[engine.name] = [
        Round(
          mean: Double(use.writtenByteCount) / Double(commitCount), operationCount: commitCount)
      ]
      guard use.callCount > 0 else { continue }
      calls[engine.name] = [
        Round(mean: Double(use.callCount) / Double(commitCount), operationCount: commitCount)
      ]
    }
    return Figure.all(of: name, unit: Figure.perMessage, rounds: rounds)
      + Figure.all(of: Self.callsName, unit: Figure.calls, rounds: calls)
  }
}
