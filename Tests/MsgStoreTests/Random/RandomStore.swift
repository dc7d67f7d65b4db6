import MsgStore
import MsgStoreTools
import PageFile
import RandomChat
import Testing

/// A store that somebody has done everything to.
///
/// What is done does not depend on what it does, so a part of it can be left out: that is how a
/// failing store is made small.
struct RandomStore {
  var transactions: [RandomTransaction] = []
  /// By how much the device's clock is ahead, in microseconds.
  var clockOffset: Int64 = 0
  /// Whether messages expire later than any clock says, so that stores with other clocks agree.
  var expiresLater = false
  /// Whether the client says that it has removed files.
  var confirmsFiles = true
  private let packing: PackingSizes?
  private let idCount: Int
  private let seed: UInt64
  /// Whether little waits, and long work takes many commits.
  private let isNarrow: Bool

  /// - Parameters:
  ///   - packing: nil: every message has a cell of its own.
  ///   - idCount: How many messages a conversation can have; with more than 30 it gets many.
  ///   - isNarrow: Whether little waits, and long work takes many commits.
  init(seed: UInt64, packing: PackingSizes?, idCount: Int = 30, isNarrow: Bool = false) {
    self.isNarrow = isNarrow
    self.seed = seed
    self.packing = packing
    self.idCount = idCount
  }

  init(seed: UInt64) { self.init(seed: seed, packing: .random(seed)) }

  /// The most members that are stored in one value; few in narrow stores, so that some have cells.
  var maximumInlineMemberCount: Int { isNarrow ? Int(seed % 5) : 32 }

  /// Thinks of what to do, and does it.
  mutating func make(
    stepCount: Int, in directory: MemoryDirectory = MemoryDirectory(),
    watch: ((MessageStore) throws -> Void)? = nil
  ) throws -> MessageStore {
    plan(stepCount: stepCount)
    return try play(in: directory, watch: watch)
  }

  private mutating func plan(stepCount: Int) {
    var acts = RandomActs(seed: seed, idCount: idCount, steps: CalledSteps())
    acts.expiresLater = expiresLater
    acts.confirmsFiles = confirmsFiles
    transactions = (0..<stepCount).map { _ in acts.transaction() }
  }

  /// Does it to a new store.
  ///
  /// - Parameter watch: Called before the first step and after each of them; then nothing goes on in
  ///   the background.
  func play(
    in directory: MemoryDirectory = MemoryDirectory(),
    watch: ((MessageStore) throws -> Void)? = nil
  ) throws -> MessageStore {
    let clock = TickingClock(1_005_000 + clockOffset)
    let options = options(clock)
    var store = try MessageStore(in: directory, name: "store", options: options)
    try watch?(store)
    var dictionaryNumber: UInt32 = 0
    for transaction in transactions {
      if transaction.compacts, watch == nil {
        dictionaryNumber += 1
        try store.packAnew(with: dictionaryNumber)
      }
      if transaction.reopens, watch == nil {
        try store.close()
        try expectSoundWhenOnlyRead(in: directory)
        store = try MessageStore(in: directory, name: "store", options: options)
      }
      clock.advance()
      if transaction.setsClockBack { clock.setBack() }
      try transaction.run(on: store)
      try watch?(store)
    }
    try store.finishWork()
    try watch?(store)
    return store
  }

  /// The options of its store.
  func options(_ clock: TickingClock) -> StoreOptions {
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.outbox.chance = { 0.5 }
    options.packs = packing != nil
    options.packing = packing ?? PackingSizes()
    // Long work goes on where the acts say so, the same in each run.
    options.worksInBackground = false
    if isNarrow {
      var random = SeededGenerator(seed: seed ^ 0x57E)
      options.maximumWaitingCount = .random(in: 2...9, using: &random)
      options.maximumInlineMemberCount = maximumInlineMemberCount
      options.steps = StepSizes(
        maximumSweepCount: .random(in: 2...20, using: &random),
        maximumMergeCount: .random(in: 1...9, using: &random),
        maximumEntryCount: .random(in: 1...9, using: &random))
    }
    return options
  }

  private struct CheckFinding: Error {
    let text: String
  }

  /// Whoever opens a closed store knows nothing but what is in its file.
  private func expectSoundWhenOnlyRead(in directory: MemoryDirectory) throws {
    var options = StoreOptions(localMember: "me").makingConversations
    options.access = .readOnly
    let store = try MessageStore(in: directory, name: "store", options: options)
    defer { try? store.close() }
    if let defect = try store.defect() { throw CheckFinding(text: "when only read: \(defect)") }
  }

  /// Thinks of what to do, and expects nothing to be wrong with it; what is wrong is made small.
  ///
  /// - Parameter defect: Does it and says what is wrong, if anything is.
  func expectSound(stepCount: Int, _ defect: (RandomStore) throws -> String?) {
    func fault(_ store: RandomStore) -> String? {
      do { return try defect(store) } catch { return "\(error)" }
    }
    var planned = self
    planned.plan(stepCount: stepCount)
    guard let first = fault(planned) else { return }
    let least = planned.shrunk { fault($0) != nil }
    Issue.record(
      "seed \(seed): \(first)\nat least \(fault(least) ?? "nothing") after\n\(least)")
  }

  /// The least of this that still makes a defective store, transactions first.
  private func shrunk(_ isDefective: (RandomStore) -> Bool) -> RandomStore {
    var least = self
    var count = transactions.count
    while count > 0 {
      var start = 0
      while start < least.transactions.count {
        var less = least
        less.transactions.removeSubrange(start..<min(start + count, less.transactions.count))
        if isDefective(less) { least = less } else { start += count }
      }
      count /= 2
    }
    for index in least.transactions.indices {
      for act in least.transactions[index].acts.indices.reversed() {
        var less = least
        less.transactions[index].acts.remove(at: act)
        if isDefective(less) { least = less }
      }
    }
    return least
  }
}

extension MessageStore {
  /// What a check finds; nil if nothing.
  func defect() throws -> String? {
    let findings = try check()
    return findings.isEmpty ? nil : findings.map(\.description).joined(separator: "\n")
  }
}

extension RandomStore: CustomStringConvertible {
  var description: String { transactions.map(\.description).joined(separator: "\n") }
}
