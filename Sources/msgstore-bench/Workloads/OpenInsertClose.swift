/// The work of a notification extension: open the store, insert one message at full durability,
/// close it.
struct OpenInsertClose: Workload {
  let name = "open-insert-close"
  let summary = "open, insert one message at full durability, close"

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    return try stage.withStoresClosed {
      try stage.measure(
        name, blockCount: 5, prepare: { stores.stream.next(count: 5) },
        engine: { engine, messages in
          try messages.map { Double(try engine.openInsertClose($0)) }
        },
        finish: stores.noteWritten)
    }
  }
}
