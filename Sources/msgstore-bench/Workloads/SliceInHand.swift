/// The time until the newest 50 messages of the huge thread are in hand as a slice that makes them
/// on demand: what a screen waits for before it draws its first line.
///
/// Runs only on engines with such slices. The messages are read and compared after the clock has
/// stopped. The clock itself accounts for a fortieth of a microsecond.
struct SliceInHand: Workload {
  let name = "slice50"
  let summary = "time until the newest 50 of the huge thread are in hand, untouched"

  func run(on stage: Stage) throws -> [Figure] {
    try stage.measure(
      name, blockCount: 4, prepare: { Tail.queries(isHuge: true, on: stage.stores) },
      engine: { engine, queries in
        try queries.compactMap { query in
          let reading = try engine.slice(of: query.conversation, count: Tail.count)
          guard let reading else { return nil }
          try reading.digest.check(is: query.expected, of: name, by: engine)
          return Double(reading.nanoseconds)
        }
      })
  }
}
