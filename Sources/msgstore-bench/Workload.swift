/// A measured workload, under a name that never changes.
protocol Workload: Sendable {
  var name: String { get }
  /// The unit of operation.
  var summary: String { get }
  /// True if the workload does not use the stage's stores.
  var hasOwnStores: Bool { get }
  /// Returns the reason why the workload cannot run on what the stores hold; nil if it can.
  func obstacle(in stores: Stores) -> String?
  /// Measures the workload on the stage's stores, which hold the corpus.
  ///
  /// Leaves the stores usable for the next workload: everything written is also recorded in their
  /// reference.
  func run(on stage: Stage) throws -> [Figure]
}

extension Workload {
  var hasOwnStores: Bool { false }
  func obstacle(in stores: Stores) -> String? { nil }
}

/// All workloads in running order: the state left by the import is measured first, and workloads
/// that write much come late.
let catalogue: [any Workload] =
  [
    Import(), Size(), Compact(), Backfill(), InitialSync(), SmallStore(), TinyThreads(),
    Tail(name: "tail50-huge", isHuge: true), Tail(name: "tail50-random", isHuge: false),
    SliceInHand(), Scroll(), AtDate(), GetByID(), Replies(name: "replies20", isSpread: false),
    Replies(name: "replies20-spread", isSpread: true), Gallery(), List(), OpenTail(), Cold(),
    Memory(),
    Commit(name: "commit-full", durability: .full),
    Commit(name: "commit-relaxed", durability: .relaxed),
    Acknowledge(), MarkRead(name: "mark-read-1000", form: .rows),
    MarkRead(name: "mark-read-1000-mark", form: .marks), Edit(), LiveTail(), UnreadTotal(),
    OpenInsertClose(), WALSize(), Written(),
    Send(name: "send-visible", isDurable: false), Send(name: "send-durable", isDurable: true),
    SendBusy(),
    TakeWork(entryCount: 50), TakeWork(entryCount: 5000), Expire(), Prune(),
    SearchCost(),
  ] + Search.all + [Day(), Scale()]

/// The unit of operation of each figure, by the figure's name.
var summaries: [String: String] {
  var summaries = Dictionary(uniqueKeysWithValues: catalogue.map { ($0.name, $0.summary) })
  summaries[Compact.sizeName] = "bytes on disk per message after that, every file counted"
  summaries[Written.callsName] = "read and write calls per message of those commits"
  summaries[Day.writtenName] = "bytes handed to write calls on that day"
  summaries[Day.storedName] = "bytes of pages made dirty on that day"
  summaries[Day.readName] = "bytes fetched from storage on that day, begun with a cold store"
  summaries[Day.callsName] = "read and write calls on that day"
  for (name, summary) in Cold.others { summaries[name] = summary }
  for name in [Cold().name] + Cold.others.map(\.0) {
    summaries[name + Cold.pagesSuffix] = "pages asked for by read calls, and faults that waited"
  }
  summaries[Expire.readName] = Expire.readSummary
  summaries[Prune.stepsName] = Prune.stepsSummary
  summaries[Prune.sizeName] = Prune.sizeSummary
  summaries[SearchCost.importName] = "one message of an import, with what the search needs"
  summaries[SearchCost.recallName] = "the share found of messages with a part of a text"
  for search in Search.all {
    summaries[search.name + Search.recallSuffix] =
      "the share found of the messages with these words"
  }
  summaries[Memory.smallName] = "the same with the smallest cache"
  return summaries
}

/// The settings of a run.
struct Settings {
  var engines: [EngineName]
  /// Further engines, for the workloads of search.
  var searchEngines: [EngineName] = []
  var workloads: [String]
  var messageCount: Int
  var roundCount: Int
  var seed: UInt64
  var isLarge: Bool
  /// The size of the store for `memory`; nil for that of the other workloads.
  var memoryByteCount: UInt64?
  /// The file of the corpus; nil if it is made up.
  var corpusPath: String?
  /// True if made-up messages have mentions, reactions, attachments and edits.
  var hasExtras = true
  /// A normal build of this program, which itself needs less memory than one with the peers.
  var normalProgram: String?
}

/// The environment in which workloads run: the stores and the progress display.
final class Stage {
  let settings: Settings
  let stores: Stores
  let directory: String
  let progress = Progress()
  /// True if the stores hold the corpus.
  private var isFilled = false
  private var trial: SearchTrial?

  init(settings: Settings, corpus: any Corpus, directory: String) throws {
    self.settings = settings
    self.directory = directory
    stores = try Stores(
      settings.engines, corpus: corpus, messageCount: settings.messageCount, seed: settings.seed,
      directory: "\(directory)/stores")
  }

  func run() throws -> [Figure] {
    defer { progress.clear() }
    var figures: [Figure] = []
    for workload in catalogue where settings.workloads.contains(workload.name) {
      if !(workload is Import) { try fill(workload) }
      if let obstacle = workload.obstacle(in: stores) {
        progress.clear()
        Progress.say("\(workload.name): left out, as \(obstacle)\n")
        continue
      }
      try progress.show(workload.name)
      figures += try workload.run(on: self)
      if workload is Import { isFilled = true }
    }
    if isFilled { try stores.verify() }
    try stores.close()
    try trial?.stores.close()
    return figures
  }

  /// The engines that were measured.
  var engines: [any Engine] {
    stores.engines + (trial?.engines ?? []).filter { $0.name.isForSearch }
  }

  /// Returns the stores of the workloads of search, filled at the first call.
  func searchTrial() throws -> SearchTrial {
    let trial = try trial ?? SearchTrial(on: self)
    self.trial = trial
    return trial
  }

  /// Imports the corpus, untimed, unless a workload has done so or does not need it.
  private func fill(_ workload: any Workload) throws {
    guard !isFilled, !workload.hasOwnStores else { return }
    for engine in stores.engines {
      _ = try stores.fill(engine, count: stores.messageCount) {
        try progress.show("filling \(engine.name.rawValue)")
      }
    }
    isFilled = true
    try stores.verify()
  }

  /// Measures in rounds of blocks; see `Stores.round`.
  ///
  /// A first, shorter round warms up and is not counted.
  func measure<Input>(
    _ workload: String, on stores: Stores? = nil, blockCount: Int, operationsPerSample: Int = 1,
    prepare: () throws -> Input,
    engine: (any Engine, Input) throws -> [Double], others: [Turn<Input>] = [],
    finish: (Input) throws -> Void = { _ in }
  ) throws -> [Figure] {
    let stores = stores ?? self.stores
    var rounds: [EngineName: [Round]] = [:]
    for number in 0...settings.roundCount {
      try progress.show("\(workload), round \(number) of \(settings.roundCount)")
      let round = try stores.round(
        number, blockCount: number == 0 ? 1 : blockCount, operationsPerSample: operationsPerSample,
        prepare: prepare, engine: engine, others: others, finish: finish)
      if number > 0 { rounds.merge(round.mapValues { [$0] }) { $0 + $1 } }
    }
    return Figure.all(of: workload, rounds: rounds)
  }

  /// Measures work on closed stores.
  func withStoresClosed<Result>(_ work: () throws -> Result) throws -> Result {
    for engine in stores.engines {
      try engine.checkpoint()
      try engine.close()
    }
    let result = try work()
    for engine in stores.engines { try engine.open() }
    return result
  }
}
