/// A store of 1,000 messages: most clients' first one, and that of an account hardly used.
struct SmallStore: Workload {
  let name = "small-store"
  let summary = "bytes on disk of a store of 1,000 messages, every file counted"
  let hasOwnStores = true
  private static let messageCount = 1000

  func run(on stage: Stage) throws -> [Figure] {
    var corpus = ChosenCorpus()
    let threads = CorpusThreads(of: stage.stores.corpus, messageCount: Self.messageCount).threads
    for thread in threads where !thread.messages.isEmpty {
      corpus.add(thread.messages, of: thread.conversation)
    }
    return try FirstDays(name, corpus, on: stage).size(dividedBy: 1, unit: Figure.byte)
  }
}
