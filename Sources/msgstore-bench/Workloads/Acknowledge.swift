/// A pending message gets its server timestamp and sequence and moves to its place, relaxed.
struct Acknowledge: Workload {
  let name = "acknowledge"
  let summary = "a pending message gets its server timestamp and moves to its place"
  private static let operationCount = 100

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    for engine in stores.engines { try engine.use(.relaxed) }
    return try stage.measure(
      name, blockCount: 5, prepare: { stores.stream.next(count: Self.operationCount).map(own) },
      engine: { engine, messages in
        _ = try engine.insert(messages.map(pending))
        return try messages.map { Double(try engine.acknowledge($0)) }
      },
      finish: stores.noteWritten)
  }

  private func own(_ message: ChatMessage) -> ChatMessage {
    var message = message
    message.sender = localMember
    message.localTime = (message.serverTime ?? 0) - 300_000
    return message
  }

  private func pending(_ message: ChatMessage) -> ChatMessage {
    var message = message
    message.serverTime = nil
    message.sequence = nil
    message.status = 0
    return message
  }
}
