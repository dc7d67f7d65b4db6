import ArgumentParser

/// The command that the workload `day` runs in a fresh process.
///
/// It runs the day's script on one store, and writes what the process has used to a file.
struct RunDay: ParsableCommand {
  static let name = "run-day"
  static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

  @Argument var engine: EngineName
  @Argument var reader: EngineName
  @Argument var directory: String
  @Argument var resultPath: String
  @Argument var messageCount: Int
  @Argument var seed: UInt64
  @Argument var conversationCount: Int
  @Argument var hasExtras: Int
  @Argument var corpusPath: String?

  func run() throws {
    let corpus: any Corpus =
      if let corpusPath {
        try CorpusFile(path: corpusPath, limit: messageCount, seed: seed)
      } else {
        SyntheticCorpus(
          conversationCount: conversationCount, seed: seed, hasExtras: hasExtras == 1)
      }
    let names = engine == reader ? [engine] : [engine, reader]
    let stores = try Stores(
      names, corpus: corpus, messageCount: messageCount, seed: seed,
      directory: directory)
    guard let engine = stores.engines.first else { throw BenchError("day: no engine") }
    let reader = stores.variants.first { $0.name == self.reader } ?? engine
    let script = DayScript(on: stores, seed: seed)
    let before = try ProcessUse.now()
    try engine.open()
    try engine.use(.relaxed)
    for step in script.steps { try play(step, on: engine, reader) }
    try engine.close()
    let use = try ProcessUse.now() - before
    try engine.open()
    try stores.verify()
    try check(script, on: engine)
    try engine.close()
    let numbers = [
      use.cpuNanoseconds, use.writtenByteCount, use.storedByteCount, use.fetchedByteCount,
      use.callCount,
    ]
    try Files.write(numbers.map(String.init).joined(separator: " "), to: resultPath)
  }

  private func play(_ step: DayStep, on engine: any Engine, _ reader: any TailReader) throws {
    switch step {
    case .receive(let messages): _ = try engine.insert(messages)
    case .send(let message):
      var pending = message
      pending.serverTime = nil
      pending.sequence = nil
      pending.status = 0
      _ = try engine.insert([pending])
      _ = try engine.acknowledge(message)
    case .open(let conversation, let pages, let last, let time):
      try reader.startScroll(conversation)
      for page in pages {
        try reader.scroll(count: Tail.count).digest.check(is: page, of: "day", by: reader)
      }
      if let last { _ = try engine.markRead([last], at: time, as: .marks) }
    case .edit(let message, let time): _ = try engine.edit(message, at: time)
    case .react(let reaction, let message): _ = try engine.react(reaction, to: message)
    case .mark(let member, let message, let time):
      _ = try engine.receiveMark(of: member, upTo: message, at: time)
    case .restart(let list):
      try engine.close()
      try engine.open()
      try engine.list(count: DayScript.listCount).digest.check(is: list, of: "day", by: engine)
    }
  }

  /// Looks for the last receipt of each member.
  private func check(_ script: DayScript, on engine: any Engine) throws {
    for (mark, receipt) in script.marks {
      let key = MessageKey(id: receipt.message.id, conversation: mark.conversation)
      let expected = Reader(member: mark.member, time: receipt.time)
      guard try engine.readers(of: key, as: .marks).contains(expected) else {
        throw BenchError("\(engine.name.rawValue), day: a receipt of \(mark.member) is missing")
      }
    }
  }
}
