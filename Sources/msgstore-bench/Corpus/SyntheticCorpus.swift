#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Messages generated from a seed, with the statistics of real chat.
///
/// Half of all messages are in one thread. Texts have 70 bytes on average, a median of 50, and 1 %
/// have over 380; a seventh of them are not in Latin script only; some have emoji. A thread has
/// eight senders, ids have 20 characters, and one message in nine is a reply.
struct SyntheticCorpus: Corpus {
  let conversations: [CorpusConversation]
  let seed: UInt64
  fileprivate let vocabularies: [Vocabulary]
  /// For each conversation, the vocabulary that most of its messages are written in.
  fileprivate let scripts: [Int]

  var summary: String { "synthetic" }

  init(conversationCount: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.seed = seed
    vocabularies = Vocabulary.all(using: &generator)
    var scripts = [0]
    var conversations: [CorpusConversation] = []
    for number in 0..<conversationCount {
      // The huge thread is Latin: its texts alone would determine the share of the other scripts.
      if number > 0 {
        let isLatin = generator.chance(0.8)
        scripts.append(isLatin ? 0 : 1 + generator.index(below: vocabularies.count - 1))
      }
      let others = (0..<7).map { _ in "user-\(generator.index(below: 5_000))" }
      conversations.append(
        CorpusConversation(
          id: PushID.make(milliseconds: 1_700_000_000_000 + Int64(number), using: &generator),
          participants: [localMember] + others,
          title: vocabularies[scripts[number]].text(byteCount: 16, using: &generator)))
    }
    self.scripts = scripts
    self.conversations = conversations
  }

  func makeStream() -> any MessageStream {
    SyntheticStream(corpus: self)
  }
}

private struct SyntheticStream: MessageStream {
  let corpus: SyntheticCorpus
  var generator: SeededGenerator
  var milliseconds: Int64 = 1_700_000_000_000
  var sequences: [Int64]
  /// The last id of each conversation, which a reply refers to.
  var lastIDs: [String?]

  init(corpus: SyntheticCorpus) {
    self.corpus = corpus
    generator = SeededGenerator(seed: corpus.seed ^ 0x5EED)
    sequences = Array(repeating: 0, count: corpus.conversations.count)
    lastIDs = Array(repeating: nil, count: corpus.conversations.count)
  }

  mutating func next(in conversation: Int?) -> ChatMessage {
    let conversation = conversation ?? drawConversation()
    milliseconds += 1 + Int64(generator.index(below: 4_000))
    sequences[conversation] += 1
    let participants = corpus.conversations[conversation].participants
    let sender = participants[generator.index(below: participants.count)]
    let isOwn = sender == localMember
    let id = PushID.make(milliseconds: milliseconds, using: &generator)
    let replyTo = generator.chance(0.11) ? lastIDs[conversation] : nil
    lastIDs[conversation] = id
    return ChatMessage(
      conversation: conversation, id: id, sender: sender, text: makeText(in: conversation),
      serverTime: milliseconds * 1_000, sequence: sequences[conversation],
      localTime: isOwn ? (milliseconds - 300) * 1_000 : nil, status: 2, replyTo: replyTo)
  }

  private mutating func drawConversation() -> Int {
    let others = corpus.conversations.count - 1
    return others == 0 || generator.chance(0.5) ? 0 : 1 + generator.index(below: others)
  }

  private mutating func makeText(in conversation: Int) -> String {
    var script = corpus.scripts[conversation]
    if generator.chance(0.02) { script = generator.index(below: corpus.vocabularies.count) }
    // Log-normal: the median is 50 bytes, and the deviation yields the rest.
    let byteCount = min(4_000, Int(exp(3.892 + 0.87 * generator.normal())))
    var text = corpus.vocabularies[script].text(byteCount: byteCount, using: &generator)
    if generator.chance(0.03) {
      text += ["😂", "👍", "❤️", "🙏🏽", "🎉", "👩‍👩‍👧"][generator.index(below: 6)]
    }
    return text
  }
}
