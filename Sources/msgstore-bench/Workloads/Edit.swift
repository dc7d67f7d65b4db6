/// A random message of the huge thread gets another text, relaxed; the old text is kept.
struct Edit: Workload {
  let name = "edit"
  let summary = "a random message of the huge thread gets another text; the old one is kept"
  static let operationCount = 100

  func run(on stage: Stage) throws -> [Figure] {
    for engine in stage.stores.engines { try engine.use(.relaxed) }
    var edits = Edits(on: stage.stores)
    return try stage.measure(
      name, blockCount: 5, prepare: { edits.next(count: Self.operationCount) },
      engine: { engine, edits in try Self.make(edits, with: engine) },
      finish: { try Self.check($0, on: stage.stores) })
  }

  static func make(_ edits: [Edits.Edit], with engine: any Engine) throws -> [Double] {
    try edits.map { Double(try engine.edit($0.message, at: $0.time)) }
  }

  /// Records the edits, and compares the messages and their histories.
  static func check(_ edits: [Edits.Edit], on stores: Stores) throws {
    for edit in edits { stores.noteEdited(edit.old, edit.message) }
    var last: [String: Edits.Edit] = [:]
    for edit in edits { last[edit.message.id] = edit }
    for engine in stores.engines {
      for edit in last.values {
        let key = MessageKey(id: edit.message.id, conversation: edit.message.conversation)
        let expected = stores.reference.digest(of: [edit.message])
        try engine.messages([key]).digest.check(is: expected, of: "edit", by: engine)
        guard try engine.earlierTexts(of: key) == edit.earlierTexts else {
          throw BenchError(
            "\(engine.name.rawValue), edit: wrong history of \(edit.message.id)")
        }
      }
    }
  }
}

/// Edits of messages of the huge thread, drawn from some thousands spread over its whole length.
struct Edits {
  struct Edit {
    var old: ChatMessage
    /// The message with its new text.
    var message: ChatMessage
    var time: Int64
    var earlierTexts: [String]
  }

  private static let candidateCount = 2_000

  private let stores: Stores
  private var candidates: [(message: ChatMessage, earlierTexts: [String])] = []
  private var time: Int64 = 0

  init(on stores: Stores) {
    self.stores = stores
    let huge = stores.reference.hugeConversation
    let stride = max(1, stores.reference.threads[huge].entries.count / Self.candidateCount)
    var stream = stores.corpus.makeStream()
    for _ in 0..<stores.messageCount {
      let message = stream.next()
      time = max(time, message.serverTime ?? 0, message.editedAt ?? 0)
      guard message.conversation == huge, Int(message.sequence ?? 0) % stride == 0 else { continue }
      candidates.append((message, []))
    }
  }

  /// Returns the next edits, each with the text of another message.
  mutating func next(count: Int) -> [Edit] {
    (0..<count).map { _ in
      let index = stores.generator.index(below: candidates.count)
      let old = candidates[index].message
      let text = candidates[stores.generator.index(below: candidates.count)].message.text
      candidates[index].earlierTexts.append(old.text)
      candidates[index].message.text = text
      time += 1_000_000
      candidates[index].message.editedAt = time
      return Edit(
        old: old, message: candidates[index].message, time: time,
        earlierTexts: candidates[index].earlierTexts)
    }
  }
}
