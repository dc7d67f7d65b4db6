/// Messages from a file of JSON lines: `conversation`, `id`, `sender`, `timestamp_ms`, `text` and,
/// where known, `reply_to`.
///
/// Other fields are ignored. A text may be empty.
///
/// Messages arrive in file order, those of a conversation in the order of their times: one that is
/// late in the file takes the turn of its time. When the file is used up, its texts are reused,
/// drawn at random with new ids and later times, so that each conversation comes up as often as in
/// the file.
struct CorpusFile: Corpus {
  let summary: String
  let conversations: [CorpusConversation]
  /// A log does not tell when its messages arrived.
  var hasLateArrivals = false
  fileprivate let messages: [ChatMessage]
  fileprivate let seed: UInt64

  /// The number of messages in the file.
  var count: Int { messages.count }

  /// Reads at most `limit` lines of the file.
  init(path: String, limit: Int?, seed: UInt64) throws {
    let bytes = try Files.read(path)
    var reader = CorpusReader()
    for (number, line) in bytes.split(separator: 10).prefix(limit ?? .max).enumerated() {
      try reader.add(line, place: "\(path), line \(number + 1)")
    }
    guard !reader.messages.isEmpty else { throw BenchError("\(path) has no messages") }
    messages = reader.messagesInOrder()
    conversations = reader.conversations
    self.seed = seed
    summary = "corpus of \(messages.count) messages"
  }

  func makeStream() -> any MessageStream {
    FileStream(corpus: self)
  }
}

/// Collects the messages and conversations of the lines, one by one.
private struct CorpusReader {
  /// The largest number of participants recorded: a thread of thousands of people does not list
  /// them all.
  private static let maximumParticipantCount = 8
  /// Some 30,000 years, so that later times can be made.
  private static let maximumMilliseconds: UInt64 = 1_000_000_000_000_000

  var messages: [ChatMessage] = []
  var conversations: [CorpusConversation] = []
  var sequences: [Int64] = []
  private var indices: [String: Int] = [:]
  /// The ids of each conversation.
  private var ids: [Set<String>] = []

  /// Returns the messages with those of each conversation in the order of their times.
  ///
  /// Each conversation keeps its turns.
  func messagesInOrder() -> [ChatMessage] {
    var turns = Array(repeating: [Int](), count: conversations.count)
    for (turn, message) in messages.enumerated() { turns[message.conversation].append(turn) }
    var ordered = messages
    for turns in turns {
      let sorted = turns.sorted {
        (messages[$0].serverTime ?? 0, $0) < (messages[$1].serverTime ?? 0, $1)
      }
      for (turn, source) in zip(turns, sorted) { ordered[turn] = messages[source] }
    }
    return ordered
  }

  mutating func add(_ line: ArraySlice<UInt8>, place: String) throws {
    guard let fields = JSONLine.fields(of: line) else {
      throw BenchError("\(place): not a JSON object of plain values")
    }
    func string(_ name: String, mayBeEmpty: Bool = false) throws -> String {
      guard case .string(let value) = fields[name], mayBeEmpty || !value.isEmpty else {
        throw BenchError("\(place): no string \"\(name)\"")
      }
      return value
    }
    guard case .integer(let milliseconds) = fields["timestamp_ms"],
      milliseconds.magnitude <= Self.maximumMilliseconds
    else { throw BenchError("\(place): no time in \"timestamp_ms\"") }
    var replyTo: String?
    if case .string(let id) = fields["reply_to"] { replyTo = id }
    let sender = try string("sender")
    let index = try conversationIndex(string("conversation"))
    let isKnown = conversations[index].participants.contains(sender)
    if !isKnown, conversations[index].participants.count < Self.maximumParticipantCount {
      conversations[index].participants.append(sender)
    }
    let id = try string("id")
    guard ids[index].insert(id).inserted else {
      throw BenchError("\(place): the conversation has a message \"\(id)\" already")
    }
    sequences[index] += 1
    messages.append(
      ChatMessage(
        conversation: index, id: id, sender: sender, text: try string("text", mayBeEmpty: true),
        serverTime: milliseconds * 1_000, sequence: sequences[index], localTime: nil, status: 2,
        replyTo: replyTo))
  }

  private mutating func conversationIndex(_ id: String) -> Int {
    if let index = indices[id] { return index }
    indices[id] = conversations.count
    // Whoever keeps a conversation takes part in it, and could mark nothing as read otherwise.
    conversations.append(CorpusConversation(id: id, participants: [localMember], title: nil))
    sequences.append(0)
    ids.append([])
    return conversations.count - 1
  }
}

private struct FileStream: MessageStream {
  let corpus: CorpusFile
  var generator: SeededGenerator
  var index = 0
  var sequences: [Int64]
  /// The time of the newest message so far, in milliseconds; generated messages come after it.
  var milliseconds: Int64

  init(corpus: CorpusFile) {
    self.corpus = corpus
    generator = SeededGenerator(seed: corpus.seed)
    sequences = Array(repeating: 0, count: corpus.conversations.count)
    milliseconds = (corpus.messages.compactMap(\.serverTime).max() ?? 0) / 1_000
  }

  mutating func next(in conversation: Int?) -> ChatMessage {
    var message: ChatMessage
    if conversation == nil, index < corpus.count {
      message = corpus.messages[index]
      index += 1
    } else {
      message = corpus.messages[generator.index(below: corpus.count)]
      milliseconds += 1 + Int64(generator.index(below: 4_000))
      message.conversation = conversation ?? message.conversation
      message.id = PushID.make(milliseconds: milliseconds, using: &generator)
      message.serverTime = milliseconds * 1_000
      message.replyTo = nil
    }
    sequences[message.conversation] += 1
    message.sequence = sequences[message.conversation]
    return message
  }
}
