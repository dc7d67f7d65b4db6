/// Messages taken from another corpus, with conversations and sequences of their own.
struct ChosenCorpus: Corpus {
  private(set) var conversations: [CorpusConversation] = []
  let hasLateArrivals = false
  /// The messages in the order in which they were added.
  private(set) var messages: [ChatMessage] = []

  var summary: String { "\(messages.count) chosen messages" }

  /// Adds a thread, whose messages must ascend in time.
  mutating func add(_ thread: some Collection<ChatMessage>, of conversation: CorpusConversation) {
    for (index, message) in thread.enumerated() {
      var message = message
      message.conversation = conversations.count
      message.sequence = Int64(index + 1)
      messages.append(message)
    }
    conversations.append(conversation)
  }

  func makeStream() -> any MessageStream { ChosenStream(messages: messages) }
}

/// The chosen messages, which no workload takes more than once.
private struct ChosenStream: MessageStream {
  let messages: [ChatMessage]
  var index = 0

  mutating func next(in conversation: Int?) -> ChatMessage {
    defer { index += 1 }
    return messages[index % messages.count]
  }
}

/// Threads to choose messages from.
struct CorpusThreads {
  private(set) var threads: [(conversation: CorpusConversation, messages: [ChatMessage])]

  /// Collects the threads of the first messages of a corpus.
  init(of corpus: any Corpus, messageCount: Int) {
    threads = corpus.conversations.map { ($0, []) }
    var stream = corpus.makeStream()
    for _ in 0..<messageCount {
      let message = stream.next()
      threads[message.conversation].messages.append(message)
    }
  }

  /// Makes up threads of one length.
  init(madeUp count: Int, of messageCount: Int, seed: UInt64) {
    let corpus = SyntheticCorpus(conversationCount: count, seed: seed)
    var stream = corpus.makeStream()
    threads = corpus.conversations.indices.map { index in
      (corpus.conversations[index], stream.next(count: messageCount, in: index))
    }
  }

  /// The longest thread.
  var longest: (conversation: CorpusConversation, messages: [ChatMessage])? {
    threads.max { $0.messages.count < $1.messages.count }
  }

  /// Keeps at most `count` threads that have at least `messageCount` messages.
  mutating func keep(_ count: Int, of messageCount: Int) {
    threads = Array(threads.lazy.filter { $0.messages.count >= messageCount }.prefix(count))
  }
}
