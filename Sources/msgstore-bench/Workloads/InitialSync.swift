/// The newest 20 messages of 10,000 conversations, 25 conversations to a relaxed transaction.
struct InitialSync: Workload {
  let name = "initial-sync"
  let summary = "one message of the newest 20 of 10,000 conversations, relaxed"
  let hasOwnStores = true
  private static let threadCount = 10_000
  private static let threadLength = 20
  private static let threadsPerBatch = 25

  func run(on stage: Stage) throws -> [Figure] {
    var corpus = ChosenCorpus()
    var batches: [[ChatMessage]] = []
    let threads = FirstDays.threads(Self.threadCount, of: 1, on: stage).threads
    for (index, thread) in threads.enumerated() {
      let start = corpus.messages.count
      corpus.add(thread.messages.suffix(Self.threadLength), of: thread.conversation)
      if index % Self.threadsPerBatch == 0 { batches.append([]) }
      batches[batches.count - 1] += corpus.messages[start...]
    }
    return try FirstDays(name, corpus, on: stage).time(batches)
  }
}
