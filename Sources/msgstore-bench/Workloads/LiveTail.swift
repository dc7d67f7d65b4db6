/// The time from the commit of one new message of the huge thread until a screen following its
/// newest 50 has the new ones and the differences.
///
/// Runs only on engines that report changes. The follower asks after the commit has returned, on
/// the same thread: waking another thread is the system's time, and varies from run to run.
struct LiveTail: Workload {
  let name = "live-tail"
  let summary =
    "from the commit of one new message until a follower has the new tail of 50"
  /// About half of them go to the huge thread; the others must not be reported.
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
