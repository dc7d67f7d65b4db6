/// Stores to be searched, one for each way of searching, and the terms with their matches.
final class SearchTrial {
  let stores: Stores
  let engines: [any SearchEngine]
  let terms: SearchTerms
  let model: SearchModel
  /// The thread that is searched alone.
  let conversation: Int
  /// The mean time of a message in the import, in nanoseconds.
  let importTimes: [EngineName: Double]

  init(on stage: Stage) throws {
    let settings = stage.settings
    let corpus = stage.stores.corpus
    let names = settings.engines.filter(\.isSQLiteOrOurs)
    stores = try Stores(
      names + settings.searchEngines, corpus: corpus, messageCount: settings.messageCount,
      seed: settings.seed, directory: "\(stage.directory)/search")
    engines = stores.engines.compactMap { $0 as? any SearchEngine }
    conversation = stores.reference.hugeConversation
    try stage.progress.show("search, drawing terms")
    var terms = SearchTerms(
      corpus, messageCount: settings.messageCount, conversation: conversation,
      seed: settings.seed)
    let model = SearchModel(
      corpus, messageCount: settings.messageCount, conversation: conversation, terms: terms.all)
    terms.absent.removeAll { model.matches[$0]?.count != 0 }
    self.terms = terms
    self.model = model
    var importTimes: [EngineName: Double] = [:]
    for engine in stores.engines {
      let times = try stores.fill(engine, count: settings.messageCount) {
        try stage.progress.show("search, filling \(engine.name.rawValue)")
      }
      importTimes[engine.name] = Double(times.reduce(0, +)) / Double(settings.messageCount)
    }
    self.importTimes = importTimes
    try stores.verify()
  }

  /// Returns the share that an engine finds of the messages whose texts have a term, the mean over
  /// some terms.
  ///
  /// - Throws: `BenchError` if ours finds one too many, or one too few.
  func recall(of engine: any SearchEngine, _ terms: [String]) throws -> Double {
    var shares: [Double] = []
    for term in terms {
      let number = try engine.matchCount(term)
      let matches = model.matches[term] ?? SearchModel.Matches()
      guard engine.name != .msgstore || number == matches.count else {
        throw BenchError("search \"\(term)\": found \(number), not \(matches.count)")
      }
      guard matches.textCount > 0 else { continue }
      shares.append(min(1, Double(number) / Double(matches.textCount)))
    }
    return shares.isEmpty ? 1 : shares.reduce(0, +) / Double(shares.count)
  }
}
