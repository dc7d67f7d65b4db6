import ArgumentParser

/// The command that the workload `cold-open-tail50` runs in a fresh process.
///
/// It opens one store and reads a tail, the messages before it, and one message, and writes the
/// bytes fetched and the pages asked for by each of the three to a file.
struct ReadCold: ParsableCommand {
  static let name = "read-cold"
  static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)
  private static let pageByteCount = 4_096.0

  @Argument var engine: EngineName
  @Argument var directory: String
  @Argument var namesPath: String
  @Argument var resultPath: String
  @Argument var conversation: Int
  @Argument var id: String
  /// The count and value of each expected digest.
  @Argument var expected: String

  func run() throws {
    let names = try Files.read(namesPath).split(separator: 0).map {
      String(decoding: $0, as: UTF8.self)
    }
    let expected = expected.split(separator: " ").compactMap { UInt64($0) }
    guard let engine = engine.makeEngine(directory: directory, names, cache: .unmapped),
      expected.count == 6
    else {
      throw BenchError("\(engine.rawValue): has no store of its own")
    }
    // The sample itself reads a file of the system.
    var samples = [try ProcessUse.now(), try ProcessUse.now()]
    let own = samples[1] - samples[0]
    samples.removeFirst()
    var readings: [Reading] = []
    try engine.open()
    try engine.startScroll(conversation)
    readings.append(try engine.scroll(count: Tail.count))
    samples.append(try ProcessUse.now())
    readings.append(try engine.scroll(count: Tail.count))
    samples.append(try ProcessUse.now())
    readings.append(
      try engine.messages([MessageKey(id: id, conversation: conversation)]))
    samples.append(try ProcessUse.now())
    try engine.close()
    for (index, reading) in readings.enumerated() {
      let isRight =
        reading.digest.count == expected[2 * index]
        && (reading.digest.count == 0 || reading.digest.value == expected[2 * index + 1])
      guard isRight else {
        throw BenchError("\(engine.name.rawValue), \(Self.name): read other messages")
      }
    }
    let numbers = zip(samples, samples.dropFirst()).flatMap { before, after in
      let use = after - before
      // A page is asked for by a read call, or by an access to a mapped file that must wait.
      let asked = max(0, Double(use.readByteCount) - Double(own.readByteCount))
      return [
        Double(use.fetchedByteCount),
        (asked / Self.pageByteCount).rounded() + Double(use.majorFaultCount),
      ]
    }
    try Files.write(numbers.map { "\($0)" }.joined(separator: " "), to: resultPath)
  }
}
