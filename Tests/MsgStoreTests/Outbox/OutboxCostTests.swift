import Damage
import MsgStore
import PageFile
import Simulation
import Testing

/// What is done with the outbox costs the same however much waits: pages read, with hardly a cache.
struct OutboxCostTests {
  enum Shape: CaseIterable {
    case oneConversation, manyConversations, held, failed, running, waiting
  }

  private static let many = Scale.count(debug: 600, release: 5000)

  private func options(_ clock: TestClock) -> StoreOptions {
    var options = StoreOptions(
      localMember: "me", cacheByteCount: StoreOptions.defaultCacheByteCount, clock: { clock.now }
    ).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    return options
  }

  /// A closed store with so much waiting.
  private func fill(_ shape: Shape, _ count: Int, _ clock: TestClock) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let store = try MessageStore(in: directory, name: "store", options: options(clock))
    try store.write { chat in
      try chat.outbox.setHoldsNewEntries(shape == .held)
      for index in 0..<count {
        let room = ConversationID(shape == .oneConversation ? "room" : "room\(index)")
        try chat.send(own(MessageID("m\(index)"), in: room))
      }
      try chat.outbox.setHoldsNewEntries(false)
      guard [.failed, .running, .waiting].contains(shape) else { return }
      while let item = try chat.outbox.next(for: "w", lease: .seconds(3600)) {
        switch shape {
        case .failed: try chat.outbox.fail(item, because: SendFailure(.invalid))
        case .waiting: try chat.outbox.fail(item, because: SendFailure(.timeOut))
        default: break
        }
      }
    }
    // These can go whatever the others do.
    try store.write { chat in
      for index in 0..<20 { try chat.send(own(MessageID("n\(index)"), in: "other")) }
    }
    try store.close()
    return directory
  }

  private func measure(_ shape: Shape, _ count: Int) throws -> [String: Int] {
    let clock = TestClock(0)
    let cost = Locked(0)
    let files = try fill(shape, count, clock)
    let directory = HookedDirectory(files) { (call, _) throws(PageFileError) in
      if call.kind == .read { cost.withLock { $0 += 1 } }
    }
    var options = options(clock)
    options.cacheByteCount = 0
    let store = try MessageStore(in: directory, name: "store", options: options)
    var costs: [String: Int] = [:]
    func run(_ name: String, _ body: () throws -> Void) throws {
      cost.withLock { $0 = 0 }
      try body()
      costs[name] = cost.withLock { $0 }
    }
    var item: OutboxItem?
    try run("next") { item = try store.next() }
    let taken = try #require(item)
    try run("renew") { try store.write { _ = try $0.outbox.renew(taken) } }
    try run("give back") { try store.write { _ = try $0.outbox.returnWork(taken) } }
    let again = try store.take()
    try run("done") { _ = try store.done(again) }
    let failed = try store.take()
    try run("failed") { _ = try store.fail(failed) }
    try run("nothing due") { _ = try store.next() }
    try run("enter") { try store.write { _ = try $0.send(own("new", in: "other")) } }
    try run("counts") { _ = try store.counts() }
    try run("counts of one") { _ = try store.counts("other") }
    try run("next time") { _ = try store.nextTime() }
    try run("some") { _ = try store.read { try $0.outbox.entries(count: 3).entries.count } }
    try run("hold") { try store.write { _ = try $0.outbox.hold(failed.id) } }
    try run("release") { try store.write { _ = try $0.outbox.release(failed.id) } }
    try run("remove") { try store.write { try $0.outbox.remove(failed.id) } }
    try store.close()
    return costs
  }

  @Test(arguments: Shape.allCases) func nothingDependsOnHowMuchWaits(_ shape: Shape) throws {
    let few = try measure(shape, 50)
    let many = try measure(shape, Self.many)
    for (name, cost) in few {
      let other = try #require(many[name])
      // A tree that is two levels deeper.
      #expect(other <= 3 * cost + 12, "\(name)")
    }
  }

  /// All of a conversation, one after the other, in one transaction: what is looked at for one entry
  /// does not grow with the others.
  @Test func aWholeConversationIsDrained() throws {
    let store = try TestClock().outboxStore()
    let count = Self.many
    try store.write { chat in
      for index in 0..<count { try chat.send(own(MessageID("m\(index)"))) }
      for index in 0..<count {
        let item = try #require(try chat.outbox.next(for: "w"))
        #expect(item.name == "send m\(index)")
        try chat.outbox.complete(item)
      }
    }
    #expect(try store.counts().total == 0)
  }
}
