/// History of the longest thread, fetched backwards in pages of 100, each a relaxed transaction.
struct Backfill: Workload {
  let name = "backfill"
  let summary = "one older message, in pages of 100 fetched backwards, relaxed"
  let hasOwnStores = true
  private static let pageCount = 1000
  private static let pageLength = 100

  func run(on stage: Stage) throws -> [Figure] {
    let threads = CorpusThreads(
      of: stage.stores.corpus, messageCount: stage.settings.messageCount)
    guard let longest = threads.longest else { return [] }
    let pageCount = min(Self.pageCount + 1, longest.messages.count / Self.pageLength)
    guard pageCount > 1 else { return [] }
    var corpus = ChosenCorpus()
    corpus.add(longest.messages.suffix(pageCount * Self.pageLength), of: longest.conversation)
    var pages = stride(from: 0, to: corpus.messages.count, by: Self.pageLength).map {
      Array(corpus.messages[$0..<$0 + Self.pageLength])
    }
    let newest = pages.removeLast()
    return try FirstDays(name, corpus, on: stage).time(after: newest, pages.reversed())
  }
}
