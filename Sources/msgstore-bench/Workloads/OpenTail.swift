/// Opens the store, reads the newest 50 of the huge thread, closes it.
///
/// The files are in the operating system's cache.
struct OpenTail: Workload {
  let name = "open-tail50"
  let summary = "open the store, read one tail, close it"
  private static let operationCount = 25

  func run(on stage: Stage) throws -> [Figure] {
    let huge = stage.stores.reference.hugeConversation
    let expected = stage.stores.reference.tail(Tail.count, of: huge)
    return try stage.withStoresClosed {
      try stage.measure(
        name, blockCount: 4, prepare: { expected },
        engine: { engine, expected in
          try (0..<Self.operationCount).map { _ in
            let reading = try engine.openTailClose(of: huge, count: Tail.count)
            try reading.digest.check(is: expected, of: name, by: engine)
            return Double(reading.nanoseconds)
          }
        })
    }
  }
}
