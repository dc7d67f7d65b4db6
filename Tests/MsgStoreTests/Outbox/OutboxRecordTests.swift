import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Records of the outbox come back as they were written, and no bytes make reading one trap.
struct OutboxRecordTests {
  private func subject(_ random: inout SeededGenerator) -> OutboxSubject {
    let id = MessageID(String(repeating: "m", count: .random(in: 1...255, using: &random)))
    let numbers = (0..<Int.random(in: 0...9, using: &random)).map { _ in
      UInt32.random(in: 0 ... .max, using: &random)
    }
    let all: [OutboxSubject] = [
      .send(id), .edit(id, at: .random(in: .min ... .max, using: &random)), .retract(id),
      .react(id, emoji: "👍🏽", isRemoved: random.chance(50)), .receipt(.read), .receipt(.delivered),
      .createConversation, .deleteConversation, .leaveConversation,
      .changeMembers(added: numbers, removed: numbers.reversed()), .setTitle, .setAvatar,
      .upload(id, attachment: String(repeating: "a", count: .random(in: 1...99, using: &random))),
      .client(name: "poll", payload: random.bytes(.random(in: 0...300, using: &random))),
      .setMessageField(
        id, at: .random(in: .min ... .max, using: &random), name: Array("rating é".utf8)),
      .setConversationField(at: .random(in: .min ... .max, using: &random), name: []),
      .setMemberField(.random(in: 1 ... .max, using: &random), at: 7, name: Array("a".utf8)),
    ]
    return all.randomElement(using: &random) ?? .setTitle
  }

  private func record(_ random: inout SeededGenerator) -> OutboxRecord {
    let subject = subject(&random)
    var record = OutboxRecord(
      subject, of: .random(in: 0 ... .max, using: &random), token: .random(), created: 7)
    let states: [OutboxRecord.State] = [
      .queued, .held, .failed,
      .waiting(until: .random(in: .min ... .max, using: &random), isOwn: random.chance(50)),
      .scheduled(at: .random(in: .min ... .max, using: &random)),
      .running(
        lease: .random(in: 0 ... .max, using: &random),
        expiry: .random(in: .min ... .max, using: &random),
        owner: String(repeating: "o", count: .random(in: 1...255, using: &random))),
    ]
    record.state = states.randomElement(using: &random) ?? .queued
    record.isBlocked = random.chance(50)
    record.attemptCount = .random(in: 0..<(1 << 62), using: &random)
    record.failureCount = .random(in: 0..<(1 << 62), using: &random)
    record.contentSum = .random(in: 0 ... .max, using: &random)
    record.created = .random(in: .min ... .max, using: &random)
    if random.chance(50) {
      record.failure = SendFailure(
        .timeOut, code: random.chance(50) ? .random(in: .min ... .max, using: &random) : nil,
        text: "wörds")
    }
    return record
  }

  private func read(_ bytes: [UInt8]) -> (OutboxRecord?, OutboxLane?) {
    Bytes.with(bytes) { (OutboxRecord($0), OutboxLane($0)) }
  }

  @Test(arguments: seeds(2)) func recordsComeBack(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let record = record(&random)
      #expect(read(record.bytes).0 == record)
      var lane = OutboxLane()
      lane.counts = OutboxCounts(
        queued: .random(in: 0...Int(UInt32.max), using: &random), held: Int(UInt32.max))
      lane.creation = .random(in: 0 ... .max, using: &random)
      lane.avatar = .max
      lane.due = random.chance(50) ? .init(ordinal: .max, time: .min) : nil
      #expect(read(lane.bytes).1 == lane)
    }
  }

  @Test(arguments: seeds(2)) func noBytesTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<3000 {
      var bytes: [UInt8]
      switch round % 3 {
      case 0: bytes = [1] + random.bytes(.random(in: 0...80, using: &random))
      case 1: bytes = record(&random).bytes
      default: bytes = OutboxLane().bytes + random.bytes(3)
      }
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert([0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0, at: index)
        }
      }
      let (record, lane) = read(bytes)
      if let record { #expect(read(record.bytes).0 == record) }
      if let lane {
        #expect(read(lane.bytes).1 == lane)
        _ = lane.counts.total
      }
    }
  }

  /// Counts near the limits in the files: using the store traps nowhere.
  @Test func countsNearTheLimitsTrapNowhere() throws {
    let directory = MemoryDirectory()
    let store = try TestClock().outboxStore(directory)
    try store.write {
      try $0.send(own("m"))
      try $0.send(own("n"))
    }
    try store.close()
    let most = UInt64(UInt32.max)
    for count in [0, most - 1, most, .max] {
      for next in [0, 1, UInt64.max - 1, .max] {
        let files = try Cells(directory).changed([
          .queuedEntries: count, .heldEntries: most, .runningEntries: most,
          .waitingEntries: most, .failedEntries: count, .nextEntry: next, .nextLease: next,
        ])
        let store = try TestClock().outboxStore(files)
        _ = try store.counts().total
        _ = try? store.write { try $0.send(own("o")) }
        _ = try? store.write { try $0.send(own("p")) }
        if let item = try? store.next() { _ = try? store.done(item) }
        _ = try? store.write { try $0.outbox.releaseAndRetryAll() }
        #expect(try !store.check().isEmpty)
        try? store.close()
      }
    }
  }
}
