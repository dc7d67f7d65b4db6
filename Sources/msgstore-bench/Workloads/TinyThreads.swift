/// Conversations of two or three messages, as those with shops and services.
struct TinyThreads: Workload {
  let name = "tiny-threads"
  let summary = "bytes on disk per message of 7,600 threads of 2 or 3, every file counted"
  let hasOwnStores = true
  private static let threadCount = 7600

  func run(on stage: Stage) throws -> [Figure] {
    var corpus = ChosenCorpus()
    let threads = FirstDays.threads(Self.threadCount, of: 3, on: stage).threads
    for (index, thread) in threads.enumerated() {
      corpus.add(thread.messages.prefix(2 + index % 2), of: thread.conversation)
    }
    return try FirstDays(name, corpus, on: stage)
      .size(dividedBy: corpus.messages.count, unit: Figure.perMessage)
  }
}
