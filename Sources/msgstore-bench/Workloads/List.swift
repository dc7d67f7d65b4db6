/// The 20 conversations with the newest activity: names, participants, counts, previews.
struct List: Workload {
  let name = "list20"
  let summary = "the 20 conversations with the newest activity"
  private static let count = 20
  private static let operationCount = 250

  func run(on stage: Stage) throws -> [Figure] {
    let expected = stage.stores.reference.list(count: Self.count)
    return try stage.measure(
      name, blockCount: 4, prepare: { expected },
      engine: { engine, expected in
        try (0..<Self.operationCount).map { _ in
          let reading = try engine.list(count: Self.count)
          try reading.digest.check(is: expected, of: name, by: engine)
          return Double(reading.nanoseconds)
        }
      })
  }
}
