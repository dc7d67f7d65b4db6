import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation

/// The same facts in two orders, with different commits, steps, packings, and compactions.
struct OrderCase {
  /// An order of facts, in commits.
  typealias Plan = [[Int]]

  let seed: UInt64
  private(set) var beginning: OrderBeginning
  let facts: [OrderFact]
  private(set) var plans: (a: Plan, b: Plan)
  private let isSealed: Bool

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let all = OrderBeginning.all
    beginning = all[Int.random(in: 0..<all.count, using: &random)]
    var maker = OrderMaker(random.next(), beginning)
    var parts: [[OrderFact]] = []
    parts.append(
      OrderExclusions.without(
        (0..<Int.random(in: 2...14, using: &random)).map { _ in maker.fact() }))
    // What a list lacks goes if it is there, so the list comes between the others.
    if random.chance(10), let list = maker.list() {
      parts.append([list])
      parts.append((0..<Int.random(in: 1...6, using: &random)).map { _ in maker.copy() })
    }
    if random.chance(50) { parts.append(maker.lastCopies()) }
    facts = parts.flatMap { $0 }
    isSealed = random.chance(10)
    var lengths: [Range<Int>] = []
    for part in parts {
      let start = lengths.last?.upperBound ?? 0
      lengths.append(start..<start + part.count)
    }
    plans = (Self.plan(lengths, &random), Self.plan(lengths, &random))
  }

  private static func plan(_ parts: [Range<Int>], _ random: inout SeededGenerator) -> Plan {
    var plan: Plan = []
    for index in parts.flatMap({ $0.shuffled(using: &random) }) {
      if plan.isEmpty || random.chance(67) { plan.append([]) }
      plan[plan.count - 1].append(index)
    }
    return plan
  }

  private func options(_ hand: OrderHand, isSecond: Bool) -> StoreOptions {
    let clock = hand.clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.outbox.chance = { 0.5 }
    if let count = beginning.maximumAttemptCount { options.outbox.maximumAttemptCount = count }
    // Steps are taken where the case says so.
    options.worksInBackground = false
    options.packing = .random(seed ^ (isSecond ? 1 : 2))
    if isSecond {
      var random = SeededGenerator(seed: seed ^ 0x57E)
      options.steps = StepSizes(
        maximumSweepCount: .random(in: 2...20, using: &random),
        maximumMergeCount: .random(in: 1...9, using: &random),
        maximumEntryCount: .random(in: 1...9, using: &random))
    }
    if isSealed { options.encryption = SealSource(seed: seed, key: 1).encryption }
    return options
  }

  /// Tells a new store the facts in an order.
  ///
  /// - Parameter isSecond: True to take few things in a step, reopen, and compact between commits.
  func tell(
    _ plan: Plan, isSecond: Bool, in directory: MemoryDirectory = MemoryDirectory(),
    _ hand: OrderHand = OrderHand()
  ) throws -> MessageStore {
    let options = options(hand, isSecond: isSecond)
    var store = try MessageStore(in: directory, name: "store", options: options)
    try store.write(.relaxed) { try beginning.act($0, hand) }
    var random = SeededGenerator(seed: seed ^ 0xB0)
    for commit in plan where !commit.isEmpty {
      try store.write(.relaxed) { writer in
        for index in commit { try facts[index].tell(writer, hand) }
      }
      guard isSecond else { continue }
      if random.chance(30) { try store.finishWork() }
      if random.chance(10) { try store.compact() }
      if random.chance(10) {
        try store.close()
        store = try MessageStore(in: directory, name: "store", options: options)
      }
    }
    if facts.contains(where: { $0.kind == .retention }) { try store.write { try $0.prune() } }
    try store.finishWork()
    return store
  }

  /// Returns all that can be seen after one of the orders.
  func picture(_ plan: Plan, isSecond: Bool) throws -> OrderPicture {
    let store = try tell(plan, isSecond: isSecond)
    defer { try? store.close() }
    return try OrderPicture(of: store, Set(facts.map(\.kind)), after: beginning)
  }

  /// Returns the lines in which the two orders differ and the findings of checks; nil if none.
  func difference() -> String? {
    do {
      let a = try picture(plans.a, isSecond: false)
      let b = try picture(plans.b, isSecond: true)
      let findings = (a.findings + b.findings).joined(separator: "\n")
      if !findings.isEmpty { return findings }
      if a.lines == b.lines { return nil }
      return
        (a.lines.filter { !b.lines.contains($0) }.map { "  first:  \($0)" }
        + b.lines.filter { !a.lines.contains($0) }.map { "  second: \($0)" })
        .joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  /// Returns a difference between a store and a copy of it, restored or salvaged; nil if none.
  func differenceOfCopies() -> String? {
    do {
      let directory = MemoryDirectory()
      let hand = OrderHand()
      let store = try tell(plans.a, isSecond: false, in: directory, hand)
      // A copy holds what waits, and forgets when work was handed out.
      try store.holdOutbox()
      try store.finishWork()
      let exported = try OrderPicture.export(of: store)
      try store.close()
      let restored = MemoryDirectory()
      let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
      let bytes = Array((exported.joined(separator: "\n") + "\n").utf8)
      let options = options(hand, isSecond: false)
      try restorer.restore(JSONRecordReader(isLenient: false, source: source(of: bytes))) {
        given throws(StoreError) in
        var given = given
        given.clock = options.clock
        return try MessageStore(in: restored, name: "store", options: given)
      }
      var plain = options
      plain.encryption = nil
      if let found = try difference(exported, of: restored, "store", plain) {
        return "restored: \(found)"
      }
      let salvaged = MemoryDirectory()
      let salvage = try PageSalvage(
        in: directory, name: "store", encryption: options.encryption)
      let report = try MessageSalvage(salvage).run(in: salvaged, name: "new")
      if !report.isWhole { return "salvage finds losses: \(report.repairs) \(report.lostRecords)" }
      return try difference(exported, of: salvaged, "new", options).map { "salvaged: \($0)" }
    } catch {
      return "\(error)"
    }
  }

  private func difference(
    _ exported: [String], of directory: MemoryDirectory, _ name: String, _ options: StoreOptions
  ) throws -> String? {
    let store = try MessageStore(in: directory, name: name, options: options)
    defer { try? store.close() }
    if let finding = try store.check().first { return "\(finding)" }
    let again = try OrderPicture.export(of: store)
    if again == exported { return nil }
    return
      (exported.filter { !again.contains($0) }.map { "  was: \($0)" }
      + again.filter { !exported.contains($0) }.map { "  is:  \($0)" }).joined(separator: "\n")
  }
}

extension OrderCase: CustomStringConvertible {
  var description: String {
    var lines = ["seed \(seed), after: \(beginning.name)\(isSealed ? ", encrypted" : "")"]
    for (name, plan) in [("first", plans.a), ("second", plans.b)] {
      lines.append("  \(name):")
      for commit in plan {
        lines.append("    " + commit.map { facts[$0].text }.joined(separator: " & "))
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Returns the least of the case that still differs.
  func shrunk(_ differs: (OrderCase) -> Bool) -> OrderCase {
    var least = self
    func tryPlans(_ plans: (Plan, Plan)) -> Bool {
      var less = least
      less.plans = plans
      guard differs(less) else { return false }
      least = less
      return true
    }
    func without(_ index: Int, _ plan: Plan) -> Plan {
      plan.map { $0.filter { $0 != index } }.filter { !$0.isEmpty }
    }
    func apart(_ plan: Plan) -> Plan { plan.flatMap { $0.map { [$0] } } }
    _ = tryPlans((apart(plans.a), least.plans.b))
    _ = tryPlans((least.plans.a, apart(plans.b)))
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for index in least.plans.a.flatMap({ $0 })
      where tryPlans((without(index, least.plans.a), without(index, least.plans.b))) {
        isSmaller = true
      }
    }
    return least
  }
}
