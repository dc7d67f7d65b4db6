import MsgStore
import PageFile
import Testing

/// Messages come out of a segment as they went in.
struct SegmentTests {
  /// Names of one kind, or of several.
  private enum Names: CaseIterable {
    case counters, pushIDs, uuids, upperUUIDs, words, mixed

    func make(_ random: inout SeededGenerator, _ index: Int) -> String {
      switch self {
      case .counters: return "ub\(1_000_000 + index)"
      case .pushIDs:
        let digits = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
        return String((0..<20).map { _ in digits[Int.random(in: 0..<64, using: &random)] })
      case .uuids, .upperUUIDs:
        let digits = Array(self == .uuids ? "0123456789abcdef" : "0123456789ABCDEF")
        return [8, 4, 4, 4, 12].map { count in
          String((0..<count).map { _ in digits[Int.random(in: 0..<16, using: &random)] })
        }.joined(separator: "-")
      case .words:
        return String(repeating: "ü", count: .random(in: 1...120, using: &random)) + "\(index)"
      case .mixed:
        return Names.allCases.dropLast().randomElement(using: &random)?.make(&random, index) ?? ""
      }
    }
  }

  /// A run of messages in the order of a thread, with all that a record may have.
  private func run(_ random: inout SeededGenerator, _ count: Int) -> MessageRun {
    let names = Names.allCases.randomElement(using: &random) ?? .counters
    let unit = [1, 1000, 1_000_000, 60_000_000].randomElement(using: &random) ?? 1
    let sequences = Int.random(in: 0...3, using: &random)
    var positions: Set<MessagePosition> = []
    var time = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
    for index in 0..<count {
      time += Int64(.random(in: 0...3, using: &random) * unit)
      let number = Int64(index) * (sequences == 2 ? .random(in: 1...9, using: &random) : 1)
      let sequence = sequences == 0 || sequences == 3 && Bool.random(using: &random) ? nil : number
      let name = MessageID(names.make(&random, index))
      positions.insert(MessagePosition(.acknowledged(time, sequence: sequence), name))
    }
    var run = MessageRun()
    for position in positions.sorted() {
      let key = KeyEncoding.key(7, position)
      let record = record(&random)
      run.append(key.bytes, record.bytes)
    }
    return run
  }

  private func record(_ random: inout SeededGenerator) -> ByteBuffer {
    let words = ["hello ", "привет ", "世界", "🙂", "a", "the quick brown fox "]
    var text = ByteBuffer()
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      text.append(words.randomElement(using: &random) ?? "")
    }
    var flags: MessageRecord.Flags = Bool.random(using: &random) ? .history : []
    if Int.random(in: 0..<9, using: &random) == 0 { flags.insert(.composed) }
    var record = MessageRecord(
      flags: flags, status: [.sent, .delivered, .read].randomElement(using: &random) ?? .sent,
      sender: .random(in: 1...12, using: &random), textByteCount: text.count, payload: text.bytes)
    if Int.random(in: 0..<4, using: &random) == 0 {
      record.markOrdinal = .random(in: 0...300, using: &random)
    }
    var reply = ByteBuffer()
    reply.append("reply-\(Int.random(in: 0..<500, using: &random))")
    if Bool.random(using: &random) {
      record.replyBytes = reply.bytes
      record.flags.insert(.reply)
    }
    var traits = MessageTraits()
    traits.mentions = [1, 5]
    var block = ByteBuffer()
    traits.append(to: &block)
    if Int.random(in: 0..<5, using: &random) == 0 {
      record.traitsBytes = block.bytes
      record.flags.insert(.traits)
    }
    var bytes = ByteBuffer()
    record.append(to: &bytes)
    return bytes
  }

  @Test func whatIsPackedComesOutAgain() {
    for seed in seeds(60) {
      var random = SeededGenerator(seed: seed)
      let run = run(&random, .random(in: 2...120, using: &random))
      let encoder = SegmentEncoder(.none)
      var value = ByteBuffer()
      guard encoder.encode(run, 0..<run.count, to: &value) else {
        Issue.record("seed \(seed): not packed")
        continue
      }
      var segment = UnpackedSegment()
      let key = run.key(0).array()
      let isUnpacked = Bytes.with(key) {
        segment.unpack(value.bytes, at: $0.dropFirst(4), with: .none)
      }
      #expect(isUnpacked, "seed \(seed)")
      var result = MessageRun()
      segment.append(to: &result, in: 7)
      guard result.count == run.count else {
        Issue.record("seed \(seed): \(result.count) messages of \(run.count)")
        continue
      }
      for index in 0..<run.count {
        let areEqual =
          result.key(index).array() == run.key(index).array()
          && result.record(index).array() == run.record(index).array()
        guard areEqual else {
          Issue.record("seed \(seed): message \(index) differs")
          break
        }
      }
    }
  }

  @Test func nothingThatIsDamagedTraps() {
    for seed in seeds(20) {
      var random = SeededGenerator(seed: seed)
      let run = run(&random, .random(in: 2...60, using: &random))
      let encoder = SegmentEncoder(.none)
      var value = ByteBuffer()
      _ = encoder.encode(run, 0..<run.count, to: &value)
      let intact = value.bytes.array()
      let key = run.key(0).array()
      for _ in 0..<300 {
        var damaged = intact
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let index = Bool.random(using: &random) ? Int.random(in: 0..<40, using: &random) : .max
          damaged[min(index, damaged.count - 1)] ^= UInt8.random(in: 1...255, using: &random)
          let other = Int.random(in: 0..<damaged.count, using: &random)
          damaged[other] ^= UInt8.random(in: 0...3, using: &random)
        }
        if Bool.random(using: &random) {
          damaged.removeLast(.random(in: 0..<damaged.count, using: &random))
        }
        var segment = UnpackedSegment()
        let isUnpacked = Bytes.with(damaged) { value in
          Bytes.with(key) { segment.unpack(value, at: $0.dropFirst(4), with: .none) }
        }
        var result = MessageRun()
        segment.append(to: &result, in: 7)
        #expect(isUnpacked == (result.count > 0))
      }
    }
  }
}
