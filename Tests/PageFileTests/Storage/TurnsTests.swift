import PageFile
import Testing

@Suite(.timeLimit(.minutes(30))) struct TurnsTests {
  /// A thread in a test that begins to wait for a turn, and those before it do already.
  private func begin(
    _ turns: Turns, waitingBefore count: Int, _ body: @escaping @Sendable () -> Void
  ) async throws -> Worker {
    let worker = Worker()
    worker.enqueue {
      turns.begin()
      body()
      turns.end()
    }
    while turns.waitingCount < count {
      try Task.checkCancellation()
      await Task.yield()
    }
    return worker
  }

  @Test func turnsAreGivenInTheOrderOfArrival() async throws {
    let turns = Turns(count: 2)
    turns.begin()
    turns.begin()
    let order = Locked<[Int]>([])
    var workers: [Worker] = []
    for number in 0..<8 {
      workers.append(
        try await begin(turns, waitingBefore: number + 1) { order.withLock { $0.append(number) } })
    }
    #expect(order.withLock { $0 } == [])
    // One of the two turns goes from one to the next, until nobody waits.
    turns.end()
    for worker in workers { worker.stop() }
    #expect(order.withLock { $0 } == Array(0..<8))
    // Both are free again.
    turns.end()
    turns.begin()
    turns.begin()
    #expect(turns.waitingCount == 0)
  }

  @Test func whoGivesWayGoesOnBehindThoseWhoWait() async throws {
    let turns = Turns(count: 1)
    turns.giveWay()
    turns.begin()
    turns.giveWay()
    let order = Locked<[Int]>([])
    var workers: [Worker] = []
    for number in 0..<3 {
      workers.append(
        try await begin(turns, waitingBefore: number + 1) { order.withLock { $0.append(number) } })
    }
    turns.giveWay()
    #expect(order.withLock { $0 } == [0, 1, 2])
    turns.end()
    for worker in workers { worker.stop() }
  }
}
