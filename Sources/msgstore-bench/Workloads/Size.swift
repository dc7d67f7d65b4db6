/// Bytes on the disk per message after import and checkpoint, every file of the open store counted.
struct Size: Workload {
  let name = "size"

  func run(on stage: Stage) throws -> [Figure] {
    var rounds: [EngineName: [Round]] = [:]
    for engine in stage.stores.engines {
      let byteCount = Double(try Files.byteCount(in: engine.directory))
      let messageCount = stage.stores.messageCount
      rounds[engine.name] = [
        Round(mean: byteCount / Double(messageCount), operationCount: messageCount)
      ]
    }
    return Figure.all(of: name, unit: "bytes/message", rounds: rounds)
  }
}
