/// One message by its conversation and id, drawn from the whole corpus.
///
/// A single lookup is too fast for a clock that costs 25 ns. Ten are timed together, and each
/// sample is their mean.
struct GetByID: Workload {
  let name = "get-by-id"
  let summary = "one message by its conversation and id"
  private static let batchCount = 10
  private static let batchesPerBlock = 100

  private struct Query {
    var keys: [MessageKey]
    var expected: Digest
  }

  func obstacle(in stores: Stores) -> String? {
    stores.messageCount >= Self.batchCount
      ? nil : "it looks up \(Self.batchCount) messages at a time"
  }

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let queries = queries(on: stores)
    var next = 0
    return try stage.measure(
      name, blockCount: 4, operationsPerSample: Self.batchCount,
      prepare: {
        defer { next = (next + Self.batchesPerBlock) % queries.count }
        return (0..<Self.batchesPerBlock).map { queries[(next + $0) % queries.count] }
      },
      engine: { engine, queries in
        try queries.map { query in
          let reading = try engine.messages(query.keys)
          try reading.digest.check(is: query.expected, of: name, by: engine)
          return Double(reading.nanoseconds) / Double(Self.batchCount)
        }
      })
  }

  /// Walks through the corpus once and keeps some thousands of its ids, in random order.
  private func queries(on stores: Stores) -> [Query] {
    let keptCount = min(20_000, stores.messageCount) / Self.batchCount * Self.batchCount
    let stride = stores.messageCount / max(1, keptCount)
    var stream = stores.corpus.makeStream()
    var kept: [(key: MessageKey, index: Int)] = []
    for number in 0..<stores.messageCount {
      let message = stream.next()
      guard number % stride == 0, kept.count < keptCount else { continue }
      kept.append(
        (
          MessageKey(id: message.id, conversation: message.conversation),
          Int(message.sequence ?? 1) - 1
        ))
    }
    kept.shuffle(using: &stores.generator)
    return Swift.stride(from: 0, to: kept.count, by: Self.batchCount).map { start in
      var expected = Digest(isExact: true)
      let batch = kept[start..<min(start + Self.batchCount, kept.count)]
      for (key, index) in batch {
        expected.fold(stores.reference.threads[key.conversation].entries[index])
      }
      return Query(keys: batch.map(\.key), expected: expected)
    }
  }
}
