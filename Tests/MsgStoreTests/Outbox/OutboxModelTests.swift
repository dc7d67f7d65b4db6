import Simulation
import Testing

/// Random operations, clocks, failures and crashes: the outbox has what a plain model of it has.
struct OutboxModelTests {
  private static let seedCount = Scale.count(debug: 3, release: 24)
  private static let stepCount = Scale.count(debug: 250, release: 1500)

  @Test(arguments: seeds(seedCount)) func theOutboxIsAsItsModel(seed: UInt64) throws {
    let player = try OutboxPlayer(seed: seed)
    try player.play(stepCount: Self.stepCount, checkEvery: 5)
    #expect(player.counts["done", default: 0] > 10)
  }
}
