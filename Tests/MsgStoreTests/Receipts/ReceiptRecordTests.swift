import MsgStore
import PageFile
import Testing

/// The records of receipts: how they merge, and that any bytes are one or none.
struct ReceiptRecordTests {
  private func position(_ time: Int64) -> MessagePosition {
    MessagePosition(.acknowledged(time, sequence: nil), MessageID("m\(time)"))
  }

  private func randomRecord(_ random: inout SeededGenerator, limit: Int64) -> ReceiptRecord {
    var record = ReceiptRecord()
    for _ in 0..<Int.random(in: 0..<8, using: &random) {
      let kind: ReceiptKind = random.chance(50) ? .read : .delivered
      record[kind].join(
        position(.random(in: 0..<limit, using: &random)),
        random.chance(70) ? .random(in: 0..<50, using: &random) : nil)
      guard random.chance(50) else { continue }
      record[kind].join(
        sequence: .random(in: 0..<limit, using: &random),
        at: random.chance(70) ? position(.random(in: 0..<limit, using: &random)) : nil,
        random.chance(70) ? .random(in: 0..<50, using: &random) : nil)
    }
    return record
  }

  private func joined(_ records: ReceiptRecord...) -> ReceiptRecord {
    records.reduce(into: ReceiptRecord()) { $0.join($1) }
  }

  @Test(arguments: seeds(4)) func receiptsMergeInAnyOrderToTheSame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      // Also with more positions than are kept: the greatest of all are those of any part.
      let limit = random.chance(50) ? Int64(6) : 100
      let (a, b, c) = (
        randomRecord(&random, limit: limit), randomRecord(&random, limit: limit),
        randomRecord(&random, limit: limit)
      )
      #expect(joined(a, b) == joined(b, a))
      #expect(joined(joined(a, b), c) == joined(a, joined(b, c)))
      #expect(joined(a, a) == a)
      #expect(joined(a, b, a) == joined(a, b))
    }
  }

  @Test func eachMarkKeepsTheEarliestTimeThatIsKnown() {
    var steps = ReceiptSteps()
    steps.join(position(5), nil)
    #expect(steps.covers(position(5)) && steps.time(of: position(5)) == nil)
    steps.join(position(5), 50)
    steps.join(position(5), 40)
    steps.join(position(5), 60)
    steps.join(position(9), 90)
    steps.join(position(2), 45)
    #expect(steps.time(of: position(1)) == 40)
    #expect(steps.time(of: position(5)) == 40)
    #expect(steps.time(of: position(6)) == 90)
    #expect(steps.time(of: position(10)) == nil && !steps.covers(position(10)))
    #expect(steps.mark == position(9))
  }

  @Test func beyondEightMarksTheLowestAreLeftOut() {
    var steps = ReceiptSteps()
    for time in 1...20 { steps.join(position(Int64(time)), Int64(time * 10)) }
    #expect(steps.steps.map(\.position) == (13...20).reversed().map { position($0) })
    // Receipts are not lost, only the time is that of the lowest mark that is kept.
    #expect(steps.covers(position(3)) && steps.time(of: position(3)) == 130)
    steps.join(position(4), 1)
    #expect(steps.time(of: position(3)) == 130)
  }

  @Test func aMarkFollowsItsMessage() {
    var steps = ReceiptSteps()
    steps.join(position(5), 50)
    steps.join(position(9), 90)
    steps.move(position(9), to: position(3))
    steps.move(position(7), to: position(8))
    #expect(steps.mark == position(5) && steps.time(of: position(3)) == 50)
  }

  @Test(arguments: seeds(2)) func whatIsWrittenReadsTheSame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let record = randomRecord(&random, limit: 1000)
      var bytes = ByteBuffer()
      record.append(to: &bytes)
      #expect(ReceiptRecord(bytes.bytes) == record)
      var own = ConversationReceipts()
      own.deliveredOrdinal = .random(in: 0..<1000, using: &random)
      own.confirmedRead = record.read.mark
      own.deliveredMark = record.delivered.mark
      own.lateFrom = record.read.steps.last?.position
      own.read.mark = MessagePosition(.acknowledged(7, sequence: .min), "")
      own.read.laggard = .random(in: 0...UInt32.max, using: &random)
      own.isReadListed = random.chance(50)
      own.isDeliveredListed = random.chance(50)
      own.othersSince = random.chance(50) ? 17 : nil
      var ownBytes = ByteBuffer()
      own.append(to: &ownBytes)
      #expect(ConversationReceipts(ownBytes.bytes) == own)
      var exact = ExactReceipt()
      for kind in ReceiptKind.allCases where random.chance(60) {
        exact.join(kind, random.chance(50) ? .random(in: -50..<50, using: &random) : nil)
      }
      var exactBytes = ByteBuffer()
      exact.append(to: &exactBytes)
      #expect(ExactReceipt(exactBytes.bytes) == (exact == ExactReceipt() ? nil : exact))
    }
  }

  @Test(arguments: seeds(2)) func anyBytesAreARecordOrNone(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var bytes = random.bytes(.random(in: 0..<60, using: &random))
      if !bytes.isEmpty { bytes[0] = .random(in: 0..<4, using: &random) }
      Bytes.with(bytes) { bytes in
        _ = ReceiptRecord(bytes)
        _ = ConversationReceipts(bytes)
        _ = ExactReceipt(bytes)
      }
    }
  }
}
