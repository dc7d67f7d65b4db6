/// Bytes written to any file per message, over at most 100,000 relaxed single-message commits and a
/// final checkpoint.
///
/// The operating system counts the bytes passed to write calls. The count covers everything that an
/// engine writes to the data file, the log or other files, including overwrites of erased data.
/// Only SQLite's index of its WAL file is missing: it is shared memory, without write calls.
/// Engines run one after the other, since their threads share the count.
struct Written: Workload {
  let name = "written"
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
    for engine in stores.engines {
      stores.stream = beginning
      let before = try Machine.writtenByteCount()
      for start in stride(from: 0, to: commitCount, by: Self.blockCount) {
        try stage.progress.show("\(name), \(engine.name.rawValue), \(start) of \(commitCount)")
        let messages = stores.stream.next(count: min(Self.blockCount, commitCount - start))
        for message in messages { _ = try engine.insert([message]) }
        if engine === stores.engines.last { stores.noteWritten(messages) }
      }
      try engine.checkpoint()
      let byteCount = Double(try Machine.writtenByteCount() - before)
      rounds[engine.name] = [
        Round(mean: byteCount / Double(commitCount), operationCount: commitCount)
      ]
    }
    return Figure.all(of: name, unit: Figure.perMessage, rounds: rounds)
  }
}
