/// 50 messages around a random date of the huge thread: 25 before the date, 25 from it on.
struct AtDate: Workload {
  let name = "at-date"
  let summary = "50 messages around a random date of the huge thread"
  private static let operationCount = 250

  private struct Query {
    var time: Int64
    var expected: Digest
  }

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let huge = stores.reference.hugeConversation
    return try stage.measure(
      name, blockCount: 4, prepare: { queries(in: huge, on: stores) },
      engine: { engine, queries in
        try queries.map { query in
          let reading = try engine.around(query.time, in: huge, count: Tail.count)
          try reading.digest.check(is: query.expected, of: name, by: engine)
          return Double(reading.nanoseconds)
        }
      })
  }

  /// Returns dates far enough from both ends of the thread that 50 messages are available.
  private func queries(in huge: Int, on stores: Stores) -> [Query] {
    let entries = stores.reference.threads[huge].entries
    let margin = min(Tail.count, entries.count / 2)
    guard let first = entries.dropFirst(margin).first?.time,
      let last = entries.dropLast(margin).last?.time
    else { return [] }
    return (0..<Self.operationCount).map { _ in
      let time = first + Int64(stores.generator.fraction() * Double(max(0, last - first)))
      return Query(
        time: time, expected: stores.reference.around(time, count: Tail.count, of: huge))
    }
  }
}
