import MsgStore
import PageFile
import Simulation
import Testing

/// Does the same to a store on a simulated disk and to the model, and compares them.
final class OutboxPlayer {
  struct Stop: Error {}
  typealias Item = (item: OutboxItem, entry: OutboxModel.Entry)

  var random: SeededGenerator
  var model = OutboxModel()
  /// What a power cut may leave: the model as it was after each commit since the last durable one.
  private var durable: [OutboxModel] = []
  private(set) var store: MessageStore
  private var directory = SimulatedDirectory()
  let clock = TestClock(1_000_000_000)
  private var serverTime: Int64
  /// An outbox that was kept after its closure.
  private var kept: OutboxWriter?
  /// Everything that was handed out, as those who have it know it.
  var items: [Item] = []
  private var found: [Item] = []
  var serial = 0
  private(set) var counts: [String: Int] = [:]
  /// How many entries one step changes; nil: as many as usual.
  let stepCount: Int?

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    // The device's clock is right, a year ahead, or a year behind.
    let year: Int64 = 365 * OutboxModel.day
    serverTime = 1_000_000_000 + ([0, 1, -1].randomElement(using: &random) ?? 0) * year
    if serverTime < 0 { serverTime = 1 }
    if random.chance(30) { model.maximumAttemptCount = 4 }
    stepCount = random.chance(50) ? Int.random(in: 1...4, using: &random) : nil
    store = try Self.open(directory, clock, model.maximumAttemptCount, stepCount)
    durable = [model]
  }

  private static func open(
    _ directory: SimulatedDirectory, _ clock: TestClock, _ maximumAttemptCount: Int?,
    _ stepCount: Int?
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    options.attachmentLimits = .tight
    options.outbox.maximumAttemptCount = maximumAttemptCount
    if let stepCount { options.steps.maximumEntryCount = stepCount }
    return try MessageStore(in: directory, name: "store", options: options)
  }

  var now: Int64 { clock.now.microseconds }

  func setClock(_ time: Int64) { clock.set(time) }

  /// A time of the server's that is later than all before, whatever the device's clock says.
  func newServerTime() -> Int64 {
    serverTime += Int64.random(in: 1...1_000_000, using: &random)
    return serverTime
  }

  func note(_ what: String) { counts[what, default: 0] += 1 }

  // MARK: Changing

  /// Runs a change of both, which may be rolled back, or fail, or be cut off.
  func change(
    _ body: (inout OutboxModel, borrowing StoreWriter) throws -> Void
  ) throws {
    var new = model
    new.step += 1
    let step = new.step
    found = []
    let level: MsgStore.SyncLevel = random.chance(60) ? .full : .relaxed
    if let outbox = kept.take() {
      #expect(throws: StoreError.transactionEnded) {
        try outbox.setHoldsNewEntries(!model.holdsNewEntries)
      }
      #expect(throws: StoreError.transactionEnded) { try outbox.next(for: "late") }
      note("kept")
    }
    let keeps = random.chance(5)
    func run(_ chat: borrowing StoreWriter) throws {
      if keeps { kept = chat.outbox }
      try body(&new, chat)
      // The model knows no steps.
      if stepCount != nil { while try chat.hasWork { try chat.doWork() } }
      try chat.setSyncPosition(Array("\(step)".utf8), for: "step")
    }
    if random.chance(4) {
      #expect(throws: Stop.self) {
        try store.write(level) { chat in
          try run(chat)
          throw Stop()
        }
      }
      note("rollback")
      return try verify()
    }
    let isFaulty = random.chance(2)
    if isFaulty {
      let call: Fault.Call = random.chance(50) ? .sync : .write
      directory.set(.fault(Fault(call, first: 1, count: .max)))
    }
    do {
      try store.write(level) { chat in try run(chat) }
    } catch StoreError.storage where isFaulty {
      note("fault")
      return try reopen(directory.disk, durable + [new])
    }
    directory.set(nil)
    model = new
    items += found
    try verify()
    // What was handed out is on the disk.
    let isDurable = level == .full || !found.isEmpty
    durable = isDurable ? [model] : durable + [model]
  }

  /// Remembers what was handed out in the change that runs.
  func found(_ item: OutboxItem, _ entry: OutboxModel.Entry) { found.append((item, entry)) }

  func kill() throws {
    note("kill")
    try reopen(directory.disk, [model])
  }

  func cutPower() throws {
    note("power cut")
    var random = SeededRandom(seed: random.next())
    guard case .powerCut(let cut) = CrashChoices().crash(directory.disk, &random) else {
      return try kill()
    }
    try reopen(directory.disk.afterPowerCut(cut, .worst), durable)
  }

  func doWork() throws { try store.finishWork() }

  private func reopen(_ disk: SimulatedDisk, _ candidates: [OutboxModel]) throws {
    directory.die()
    try? store.close()
    directory = SimulatedDirectory(disk)
    store = try Self.open(directory, clock, model.maximumAttemptCount, stepCount)
    let bytes = try store.read { try $0.syncPosition(for: "step") } ?? []
    let step = Int(String(decoding: bytes, as: UTF8.self)) ?? 0
    model = try #require(candidates.last { $0.step == step }, "step \(step) is not to be expected")
    try verify()
    // What was found may be in the system's memory only, until something is written.
    durable = durable.filter { $0.step < step } + [model]
  }

  // MARK: Comparing

  /// Expects the store to have what the model has, and takes in the tokens that are new.
  func verify() throws {
    let entries = try store.entries()
    let lines = entries.map { line(of: $0) }
    let expected = zip(model.entries, model.areShownBlocked).map { line(of: $0, $1) }
    #expect(lines == expected)
    if lines != expected { throw Stop() }
    for (index, entry) in entries.enumerated() {
      if let token = model.entries[index].token {
        #expect(token == entry.token, "\(lines[index])")
      } else {
        #expect(entry.token != model.entries[index].formerToken, "\(lines[index])")
        model.entries[index].token = entry.token
      }
    }
    #expect(Set(entries.map(\.token)).count == entries.count)
    #expect(try store.counts() == OutboxCounts(entries))
    let ofRooms = Dictionary(grouping: entries, by: \.conversation)
    for room in model.rooms {
      #expect(try store.counts(room.name) == OutboxCounts(ofRooms[room.name] ?? []))
    }
  }

  func expectSound() throws {
    try store.expectSound()
    try verifyFields()
  }

  private func line(of entry: OutboxEntry) -> String {
    let conversation = entry.conversation?.string ?? "-"
    return "\(entry.id) \(conversation) \(entry.kind) \(entry.message?.string ?? "-") "
      + "\(entry.state) \(entry.isBlocked) \(entry.attemptCount)"
  }

  private func line(of entry: OutboxModel.Entry, _ isBlocked: Bool) -> String {
    let conversation = entry.room < 0 ? "-" : model.rooms[entry.room].name.string
    let state: OutboxState =
      switch entry.state {
      case .queued: .queued
      case .held: .held
      case .failed: .failed
      case .waiting(let until): .waiting(until: time(until))
      case .running(let owner, let expiry, _): .running(owner: owner, expiry: time(expiry))
      }
    return "\(entry.id) \(conversation) \(entry.kind.outboxKind) \(entry.message?.string ?? "-") "
      + "\(state) \(isBlocked) \(entry.attemptCount)"
  }
}

extension OutboxModel.Kind {
  fileprivate var outboxKind: OutboxKind {
    switch self {
    case .upload: .upload
    case .send: .send
    case .edit: .edit
    case .retract: .retract
    case .react: .react
    case .read: .readReceipt
    case .create: .createConversation
    case .delete: .deleteConversation
    case .title: .setTitle
    case .client: .client
    case .field(.message): .setMessageField
    case .field(.room): .setConversationField
    case .field(.member): .setMemberField
    }
  }
}
