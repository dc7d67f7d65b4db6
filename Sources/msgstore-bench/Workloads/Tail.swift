/// The newest 50 messages of the thread that holds half of all messages, or of a random other one.
///
/// The limit copies the messages' bytes out of memory.
struct Tail: Workload {
  let name: String
  let isHuge: Bool
  var summary: String {
    "newest 50 of \(isHuge ? "the thread that holds half of all" : "a random other thread")"
  }
  static let count = 50
  static let operationCount = 500

  struct Query {
    var conversation: Int
    var expected: Digest
  }

  func run(on stage: Stage) throws -> [Figure] {
    let copied = Self.bytesToCopy(from: stage.stores.corpus)
    let copiedByteCount = copied.reduce(0) { $0 + $1.count }
    var others = stage.stores.variants.map { variant in
      Turn(name: variant.name) { try Self.read($0, of: name, from: variant) }
    }
    if stage.stores.limit != nil {
      others.append(
        Turn(name: .limit) { queries in
          queries.map { _ in Double(LimitEngine.copy(copied, byteCount: copiedByteCount)) }
        })
    }
    return try stage.measure(
      name, blockCount: 4, prepare: { Self.queries(isHuge: isHuge, on: stage.stores) },
      engine: { engine, queries in try Self.read(queries, of: name, from: engine) },
      others: others)
  }

  static func queries(isHuge: Bool, on stores: Stores) -> [Query] {
    let huge = stores.reference.hugeConversation
    let otherCount = stores.corpus.conversations.count - 1
    let expected = stores.reference.tail(count, of: huge)
    return (0..<operationCount).map { _ in
      if isHuge || otherCount == 0 { return Query(conversation: huge, expected: expected) }
      let drawn = stores.generator.index(below: otherCount)
      let conversation = drawn < huge ? drawn : drawn + 1
      return Query(
        conversation: conversation, expected: stores.reference.tail(count, of: conversation))
    }
  }

  static func read(
    _ queries: [Query], of workload: String, from engine: any TailReader
  ) throws -> [Double] {
    try queries.map { query in
      let reading = try engine.tail(of: query.conversation, count: count)
      try reading.digest.check(is: query.expected, of: workload, by: engine)
      return Double(reading.nanoseconds)
    }
  }

  /// Returns messages as plain bytes, with 64 bytes for everything but the text.
  private static func bytesToCopy(from corpus: any Corpus) -> [[UInt8]] {
    var stream = corpus.makeStream()
    return stream.next(count: count).map { Array($0.text.utf8) + [UInt8](repeating: 0, count: 64) }
  }
}
