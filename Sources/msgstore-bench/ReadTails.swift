import ArgumentParser

/// The command that the workload `memory` runs in a fresh process.
///
/// It opens one store, reads 10,000 tails of random conversations, and writes its peak memory and
/// the number of messages read to a file.
struct ReadTails: ParsableCommand {
  static let name = "read-tails"
  static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

  @Argument var engine: EngineName
  @Argument var cache: CacheSize
  @Argument var directory: String
  @Argument var namesPath: String
  @Argument var resultPath: String
  @Argument var seed: UInt64

  func run() throws {
    let names = try Files.read(namesPath).split(separator: 0).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard let engine = engine.makeEngine(directory: directory, names, cache: cache) else {
      throw BenchError("\(engine.rawValue): has no store of its own")
    }
    try engine.open()
    var messageCount: UInt64 = 0
    for conversation in Self.conversations(count: names.count, seed: seed) {
      messageCount += UInt64(try engine.tail(of: conversation, count: Tail.count).digest.count)
    }
    try engine.close()
    try Files.write("\(try Machine.peakByteCount()) \(messageCount)", to: resultPath)
  }

  /// Returns the number of messages that the process must read.
  static func expected(_ reference: Reference, conversationCount: Int, seed: UInt64) -> UInt64 {
    conversations(count: conversationCount, seed: seed).reduce(0) { sum, conversation in
      sum + UInt64(min(Tail.count, reference.threads[conversation].entries.count))
    }
  }

  private static func conversations(count: Int, seed: UInt64) -> some Sequence<Int> {
    var generator = SeededGenerator(seed: seed)
    return (0..<Memory.tailCount).lazy.map { _ in generator.index(below: count) }
  }
}
