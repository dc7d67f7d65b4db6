/// One message and its conversation's summary, in a transaction of its own.
///
/// The conversations are drawn as in the corpus. At full durability the limit is a bare write and
/// sync of as many bytes as our median commit writes. It runs block by block beside the engines,
/// since the speed of the disk changes by the second.
struct Commit: Workload {
  let name: String
  let durability: Durability
  var summary: String {
    "one message and its conversation's summary, "
      + (durability == .full ? "durable when it returns" : "relaxed")
  }
  static let operationCount = 20

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    for engine in stores.engines { try engine.use(durability) }
    var others: [Turn<[ChatMessage]>] = []
    if durability == .full, let limit = stores.limit {
      try measureCommit(on: stores)
      let bytes = [UInt8](repeating: 0x5A, count: limit.writeByteCount)
      others.append(
        Turn(name: .limit) { messages in
          try messages.map { _ in Double(try limit.writeAndSync(bytes)) }
        })
    }
    let operationCount = Self.operationCount * (durability == .full ? 1 : 10)
    return try stage.measure(
      name, blockCount: 10, prepare: { stores.stream.next(count: operationCount) },
      engine: { engine, messages in try messages.map { Double(try engine.insert([$0])) } },
      others: others,
      finish: stores.noteWritten)
  }

  /// Measures the bytes that our median commit writes, so that the limit writes as many.
  private func measureCommit(on stores: Stores) throws {
    let messages = stores.stream.next(count: 100)
    for engine in stores.engines {
      let byteCounts = try messages.map { message in
        let before = try engine.walByteCount ?? 0
        _ = try engine.insert([message])
        return Double((try engine.walByteCount ?? 0) - before)
      }
      guard engine.name == .msgstore else { continue }
      stores.limit?.use(writeByteCount: Int(byteCounts.median))
    }
    stores.noteWritten(messages)
  }
}
