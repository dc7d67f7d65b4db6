/// The next older 50 messages, walking the huge thread back from its end, and starting over when
/// its beginning is reached.
struct Scroll: Workload {
  let name = "scroll50"
  let summary = "next older 50, walking the huge thread back from its end"
  private static let operationCount = 250

  private struct Walk {
    var conversation: Int
    /// The expected result of each step; the first is the tail, which only starts the walk.
    var expected: [Digest]
  }

  func obstacle(in stores: Stores) -> String? {
    let messageCount = stores.reference.threads[stores.reference.hugeConversation].entries.count
    return messageCount > Tail.count ? nil : "no thread has more than \(Tail.count) messages"
  }

  func run(on stage: Stage) throws -> [Figure] {
    let reference = stage.stores.reference
    let huge = reference.hugeConversation
    let messageCount = reference.threads[huge].entries.count
    let stepCount = min(Self.operationCount, max(1, messageCount / Tail.count - 1))
    let walk = Walk(
      conversation: huge,
      expected: (0...stepCount).map { step in
        let end = messageCount - step * Tail.count
        return reference.messages(end - Tail.count..<end, of: huge)
      })
    return try stage.measure(
      name, blockCount: max(4, min(40, 1_000 / stepCount)), prepare: { walk },
      engine: { engine, walk in try self.walk(walk, with: engine) },
      others: stage.stores.variants.map { variant in
        Turn(name: variant.name) { try self.walk($0, with: variant) }
      })
  }

  private func walk(_ walk: Walk, with engine: any TailReader) throws -> [Double] {
    try engine.startScroll(walk.conversation)
    let times = try walk.expected.map { expected in
      let reading = try engine.scroll(count: Tail.count)
      try reading.digest.check(is: expected, of: name, by: engine)
      return Double(reading.nanoseconds)
    }
    return Array(times.dropFirst())
  }
}
