/// Time from the commit of one new message of the huge thread until a screen that follows its newest 50
/// has the new ones, with what is different in them.
///
/// Only engines that tell of changes. Whoever follows asks when the commit has returned, on the same
/// thread: waking another is the system's time, and differs from run to run.
struct LiveTail: Workload {
  let name = "live-tail"
  let summary =
    "from the commit of one new message to the new tail of 50 in the hands of who follows it"
  /// About half of them are of the huge thread, and the others must not be told of.
  private static let messageCount = 100

  func run(on stage: Stage) throws -> [Figure] {
    let stores = stage.stores
    let huge = stores.reference.hugeConversation
    for engine in stores.engines { try engine.use(.relaxed) }
    return try stage.measure(
      name, blockCount: 4,
      prepare: { stores.stream.next(count: Self.messageCount) },
      engine: { engine, messages in
        if let times = try engine.follow(huge, count: Tail.count, inserting: messages) {
          return times.map { Double($0) }
        }
        for message in messages { _ = try engine.insert([message]) }
        return []
      },
      finish: stores.noteWritten)
  }
}
