/// The newest 20 messages with a term: found, and read with all their fields.
///
/// The time of a round is the mean over its terms. Full-text indexes find other messages than the
/// model does: theirs are not compared, but counted, as `-recall`.
struct Search: Workload {
  let name: String
  let summary: String
  let hasOwnStores = true
  private let terms: @Sendable (SearchTerms) -> [String]
  private let isInConversation: Bool

  /// The number of messages read.
  static let count = 20
  static let recallSuffix = "-recall"

  static let all = [
    Search("search-common", "newest 20 with a frequent word") { $0.common },
    Search("search-rare", "newest 20 with a word that one message in 1,000 has") { $0.rare },
    Search("search-none", "a word that occurs nowhere") { $0.absent },
    Search(
      "search-conversation", "newest 20 of the huge thread with a word that one in 1,000 has",
      isInConversation: true
    ) { $0.rareInConversation },
  ]

  private init(
    _ name: String, _ summary: String, isInConversation: Bool = false,
    terms: @escaping @Sendable (SearchTerms) -> [String]
  ) {
    self.name = name
    self.summary = summary
    self.isInConversation = isInConversation
    self.terms = terms
  }

  func run(on stage: Stage) throws -> [Figure] {
    let trial = try stage.searchTrial()
    let terms = terms(trial.terms)
    guard !terms.isEmpty else { return [] }
    let figures = try stage.measure(
      name, on: trial.stores, blockCount: 1, prepare: { terms },
      engine: { engine, terms in
        guard let engine = engine as? any SearchEngine else { return [] }
        let times = try terms.map { Double(try search($0, trial, engine).nanoseconds) }
        return [times.reduce(0, +) / Double(times.count)]
      })
    return figures
      + (try trial.engines.map { engine in
        Figure(
          engine: engine.name, workload: name + Self.recallSuffix, unit: Figure.share,
          median: try trial.recall(of: engine, terms), p99: 0, operationCount: terms.count)
      })
  }

  private func search(
    _ term: String, _ trial: SearchTrial, _ engine: any SearchEngine
  ) throws -> Reading {
    let reading = try engine.search(
      term, in: isInConversation ? trial.conversation : nil, count: Self.count)
    if ![.sqliteWords, .sqliteTrigrams].contains(engine.name) {
      let model = engine.foldsASCIIOnly ? trial.model.matchesOfASCII : trial.model.matches
      let newest =
        isInConversation ? model[term]?.newestInConversation : model[term]?.newest
      let expected = trial.stores.reference.digest(of: newest ?? [])
      try reading.digest.check(is: expected, of: "\(name) \"\(term)\"", by: engine)
    }
    return reading
  }
}
