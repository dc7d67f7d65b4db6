/// Bytes on disk per message after import and checkpoint.
///
/// Counts every file below the open store's directory, including logs and locks.
struct Size: Workload {
  let name = "size"
  let summary = "bytes on disk per message after import and checkpoint, every file counted"

  func run(on stage: Stage) throws -> [Figure] {
    var rounds: [EngineName: [Round]] = [:]
    for engine in stage.stores.engines {
      let byteCount = Double(try Files.byteCount(in: engine.directory))
      let messageCount = stage.stores.messageCount
      rounds[engine.name] = [
        Round(mean: byteCount / Double(messageCount), operationCount: messageCount)
      ]
    }
    return Figure.all(of: name, unit: Figure.perMessage, rounds: rounds)
  }
}
