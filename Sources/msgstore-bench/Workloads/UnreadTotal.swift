/// The number of unread messages in all 10,000 conversations, muted ones separate, as a badge shows
/// it.
///
/// Uses stores of its own. SQLite keeps both sums in rows of their own, by a trigger, here only, so
/// that no other workload pays for it. Ten reads are timed together.
struct UnreadTotal: Workload {
  let name = "unread-total"
  let summary = "the unread messages of all of 10,000 conversations"
  let hasOwnStores = true
  private static let conversationCount = 10_000
  private static let messageCount = 20_000
  private static let batchCount = 10
  private static let batchesPerBlock = 100

  func run(on stage: Stage) throws -> [Figure] {
    let stores = try makeStores(on: stage)
    let figures = try stage.measure(
      name, on: stores, blockCount: 4, operationsPerSample: Self.batchCount,
      prepare: { try change(stores) },
      engine: { engine, expected in
        try (0..<Self.batchesPerBlock).map { _ in
          let reading = try engine.unreadTotals(times: Self.batchCount)
          try reading.digest.check(is: expected, of: name, by: engine)
          return Double(reading.nanoseconds) / Double(Self.batchCount)
        }
      })
    try stores.close()
    return figures
  }

  private func makeStores(on stage: Stage) throws -> Stores {
    let stores = try Stores(
      stage.settings.engines.filter { $0 != .limit },
      corpus: SyntheticCorpus(
        conversationCount: Self.conversationCount, seed: stage.settings.seed),
      messageCount: Self.messageCount, seed: stage.settings.seed,
      directory: "\(stage.directory)/\(name)")
    let muted = Array(stride(from: 0, to: Self.conversationCount, by: 7))
    for engine in stores.engines {
      _ = try stores.fill(engine, count: Self.messageCount) {
        try stage.progress.show("\(name), filling \(engine.name.rawValue)")
      }
      try engine.keepUnreadTotals()
      try engine.mute(muted)
    }
    stores.noteMuted(muted)
    return stores
  }

  /// Inserts a few new messages, reads one of the conversations, and returns the expected totals.
  private func change(_ stores: Stores) throws -> Digest {
    let messages = stores.stream.next(count: 20)
    stores.noteWritten(messages)
    for engine in stores.engines { _ = try engine.insert(messages) }
    if let last = messages.last(where: { $0.sender != localMember }) {
      for engine in stores.engines {
        _ = try engine.markRead([last], at: last.serverTime ?? 0, as: .marks)
      }
      stores.noteRead(last.conversation)
    }
    let totals = stores.reference.unreadTotals
    var expected = Digest(isExact: true)
    for _ in 0..<Self.batchCount {
      expected.fold(UInt64(totals.unmuted))
      expected.fold(UInt64(totals.muted))
    }
    return expected
  }
}
