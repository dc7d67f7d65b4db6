import Testing

/// Random operations, clocks, failures and crashes: the outbox has what a plain model of it has.
@Suite struct OutboxModelTests {
  #if DEBUG
    private static let (seedCount, stepCount) = (3, 250)
  #else
    private static let (seedCount, stepCount) = (24, 1500)
  #endif

  @Test(arguments: seeds(seedCount)) func theOutboxIsAsItsModel(seed: UInt64) throws {
    let player = try OutboxPlayer(seed: seed)
    try player.play(stepCount: Self.stepCount, checkEvery: 5)
    #expect(player.counts["done", default: 0] > 10)
  }
}
