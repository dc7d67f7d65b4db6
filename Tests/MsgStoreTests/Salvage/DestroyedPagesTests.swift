import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// Every message and every fact whose own pages are whole is saved, whatever else is destroyed, and what was deleted
/// stays deleted.
struct DestroyedPagesTests {
  /// A closed store, what it holds, and what was deleted from it.
  private typealias Sample = (SalvageSubject, StoreContent, Set<MessageID>)

  /// The seeds of a test: some of its own, or in a debug build the one that all tests share, whose
  /// stores take longer to make than what is done with them.
  private static func seeds(_ count: Int) -> [UInt64] {
    Scale.isFull ? MsgStoreTests.seeds(count) : sharedSeeds
  }

  private static let sharedSeeds = MsgStoreTests.seeds(1)
  private static let sharedSample = Result { try makeSample(sharedSeeds[0]) }
  private static let sharedSampleWithOldPages = Result {
    try makeSampleWithOldPages(sharedSeeds[0])
  }

  private func sample(_ seed: UInt64) throws -> Sample {
    try Scale.isFull ? Self.makeSample(seed) : Self.sharedSample.get()
  }

  private static func makeSample(_ seed: UInt64) throws -> Sample {
    var sample = try SalvageSample(seed: seed)
    try sample.grow(commits: 80)
    let content = try sample.content()
    try sample.close()
    return (try SalvageSubject(sample.directory), content, sample.deleted)
  }

  /// Expects that exactly the messages that need none of these slots are saved, as they were.
  ///
  /// Where receipts are lost, a message may be known to have come less far. Where it is not known any
  /// more what waited to go out, what is pending is held. Where the record beside a segment is lost,
  /// the message may be as the segment has it.
  private func expect(
    _ salvaged: Salvaged, _ subject: SalvageSubject, _ content: StoreContent,
    without slots: Set<Int>, areReceiptsLost: Bool = false, isOutboxLost: Bool = false,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let expected = subject.messages(without: slots)
    let saved = Set(salvaged.content.messages.keys)
    #expect(expected.subtracting(saved).isEmpty, "missing", sourceLocation: location)
    #expect(saved.subtracting(expected).isEmpty, "too many", sourceLocation: location)
    let setBack = subject.messagesSetBack(without: slots)
    let differing = saved.subtracting(setBack).filter {
      guard var message = salvaged.content.messages[$0] else { return true }
      if areReceiptsLost, let intact = content.messages[$0], message.status < intact.status {
        message.status = intact.status
      }
      // What waits is entered anew, held, whatever had become of it.
      if isOutboxLost, message.status == .held, let intact = content.messages[$0],
        !intact.status.isServerKnowledge
      {
        message.status = intact.status
      }
      return !message.hasSameContent(as: content.messages[$0])
    }
    #expect(differing.isEmpty, sourceLocation: location)
    #expect(salvaged.saved.messageCount == saved.count, sourceLocation: location)
    #expect(
      subject.facts(without: slots).differences(to: salvaged.facts, setBack: setBack) == [],
      sourceLocation: location)
  }

  @Test func anUndamagedStoreComesBackAsItWas() throws {
    let (subject, content, _) = try sample(Self.seeds(1)[0])
    let salvaged = try subject.salvage()
    #expect(content.messages.count == subject.messageSlots.count)
    #expect(salvaged.content.differences(from: content) == [])
    #expect(subject.facts(without: []).differences(to: salvaged.facts) == [])
    #expect(salvaged.facts.count > 100)
    #expect(salvaged.pages.isWhole && salvaged.saved.isWhole)
    #expect(salvaged.saved.deletedCount == 0)
  }

  @Test(arguments: 0...Schema.work.rawValue)
  func aLeafOfEachTreeCostsNoMoreThanItsOwn(tree: Int) throws {
    let seed = Self.seeds(1)[0]
    let (intact, content, _) = try sample(seed)
    var random = SeededGenerator(seed: seed)
    let slotCount = Scale.count(debug: 1, release: 2)
    for slot in intact.slots(tree: tree).shuffled(using: &random).prefix(slotCount) {
      var subject = intact
      subject.destroy([slot], &random)
      let salvaged = try subject.salvage()
      let names = [Schema.settings, Schema.names, Schema.conversations, Schema.index]
        .contains(TreeNumber(tree))
      if !names {
        expect(
          salvaged, intact, content, without: [slot],
          areReceiptsLost: tree == Schema.facts.rawValue,
          isOutboxLost: tree == Schema.work.rawValue)
      }
      #expect(salvaged.content.messages.count == intact.messages(without: [slot]).count)
      let setBack = intact.messagesSetBack(without: [slot])
      #expect(
        intact.facts(without: [slot]).differences(to: salvaged.facts, setBack: setBack) == [])
      #expect(salvaged.pages.lostPages.count == 1)
      #expect(salvaged.pages.lostPages.first?.tree == tree)
      #expect(salvaged.pages.lostPages.first.map { Int($0.slot.rawValue) } == slot)
    }
  }

  @Test func noMessageNeedsABranch() throws {
    let seed = Self.seeds(1)[0]
    let (intact, content, _) = try sample(seed)
    var random = SeededGenerator(seed: seed)
    var subject = intact
    let branches = intact.pageSlots.filter { $0.key.level > 0 }.flatMap(\.value)
    try #require(branches.count > 1)
    subject.destroy(branches, &random)
    let salvaged = try subject.salvage()
    expect(salvaged, intact, content, without: Set(branches))
    #expect(salvaged.content.differences(from: content) == [])
    #expect(salvaged.pages.lostPages.count == branches.count)
  }

  @Test func noMessageNeedsATablePage() throws {
    for seed in Self.seeds(1) {
      let (intact, content, _) = try sample(seed)
      var random = SeededGenerator(seed: seed)
      let tables = intact.tableSlots
      try #require(tables.count == 1 || (tables[1] ?? []).count == 1)
      for slots in tables.values.flatMap({ $0 }).map({ [$0] }) + [tables.values.flatMap { $0 }] {
        var subject = intact
        subject.destroy(slots, &random)
        let salvaged = try subject.salvage()
        expect(salvaged, intact, content, without: Set(slots))
        #expect(salvaged.content.differences(from: content) == [], "seed \(seed)")
        #expect(!salvaged.pages.isWhole)
      }
    }
  }

  @Test func noMessageNeedsAMetaSlot() throws {
    for seed in Self.seeds(1) {
      let (intact, content, _) = try sample(seed)
      var random = SeededGenerator(seed: seed)
      for destroyed in [[0], [1], [0, 1]] {
        var subject = intact
        for index in destroyed { subject.destroyMetaSlot(index, &random) }
        let salvaged = try subject.salvage()
        #expect(salvaged.content.differences(from: content) == [], "seed \(seed)")
        #expect(salvaged.pages.findings.count == destroyed.count)
      }
    }
  }

  @Test func onlyLongMessagesNeedTheirOverflowPages() throws {
    let seed = Self.seeds(1)[0]
    let (intact, content, _) = try sample(seed)
    var random = SeededGenerator(seed: seed)
    var subject = intact
    let slots = try #require(intact.pageSlots[SalvageSubject.overflow]?.prefix(3))
    subject.destroy(slots, &random)
    let salvaged = try subject.salvage()
    expect(salvaged, intact, content, without: Set(slots))
    #expect(salvaged.saved.lostRecordCount >= 1)
    // A long value may be a message's own text, an earlier version of it, that of an edit beside a
    // segment, without which the message is as the segment has it, or what is told of a message.
    let lostFacts = intact.facts(without: []).differences(
      to: intact.facts(without: Set(slots)), setBack: [])
    #expect(
      !salvaged.saved.shortfalls.isEmpty || !salvaged.saved.incompleteMessages.isEmpty
        || !intact.messagesSetBack(without: Set(slots)).isEmpty || !lostFacts.isEmpty)
  }

  /// Without table, branches and meta slots nothing is left but leaves, of any age.
  @Test func leavesAloneAreEnough() throws {
    for seed in Self.seeds(2) {
      let (intact, content, deleted) = try sample(seed)
      var random = SeededGenerator(seed: seed)
      var subject = intact
      let branches = intact.pageSlots.filter { $0.key.level > 0 }.flatMap(\.value)
      let destroyed = branches + intact.tableSlots.values.flatMap { $0 }
      subject.destroy(destroyed, &random)
      for index in 0..<2 { subject.destroyMetaSlot(index, &random) }
      let salvaged = try subject.salvage()
      expect(salvaged, intact, content, without: Set(destroyed))
      #expect(deleted.isDisjoint(with: salvaged.content.messages.keys), "seed \(seed)")
    }
  }

  /// A closed store that still has all versions of its pages from several moments in some slot.
  private func sampleWithOldPages(_ seed: UInt64) throws -> Sample {
    try Scale.isFull ? Self.makeSampleWithOldPages(seed) : Self.sharedSampleWithOldPages.get()
  }

  private static func makeSampleWithOldPages(_ seed: UInt64) throws -> Sample {
    var sample = try SalvageSample(seed: seed)
    var earlier: [[UInt8]] = []
    for _ in 0..<8 {
      try sample.grow(commits: 12)
      try sample.checkpoint()
      earlier.append(sample.files["store"] ?? [])
    }
    let content = try sample.content()
    try sample.close()
    var subject = try SalvageSubject(sample.directory)
    for data in earlier { subject.keepOldPages(of: data) }
    return (subject, content, sample.deleted)
  }

  /// Bits of what is destroyed: 1 the page table, 2 all branches, 4 both meta slots.
  @Test(arguments: 0..<8)
  func oldPagesStayOld(damage: Int) throws {
    let (tables, branches, metas) = (damage & 1 != 0, damage & 2 != 0, damage & 4 != 0)
    for seed in Self.seeds(1) {
      let (intact, content, deleted) = try sampleWithOldPages(seed)
      var random = SeededGenerator(seed: seed)
      var subject = intact
      var destroyed: [Int] = []
      if tables { destroyed += intact.tableSlots.values.flatMap { $0 } }
      if branches {
        destroyed += intact.pageSlots.filter { $0.key.level > 0 }.flatMap(\.value)
      }
      subject.destroy(destroyed, &random)
      if metas { for index in 0..<2 { subject.destroyMetaSlot(index, &random) } }
      let salvaged = try subject.salvage()
      let back = deleted.intersection(salvaged.content.messages.keys)
      #expect(back.isEmpty, "seed \(seed): \(back.count) of \(deleted.count) are back")
      expect(salvaged, intact, content, without: Set(destroyed))
      #expect(salvaged.content.differences(from: content) == [], "seed \(seed)")
    }
  }

  /// The same damage to a store that was killed, with commits in its log.
  @Test(arguments: 0..<8)
  func theLogIsAppliedToWhatIsLeft(damage: Int) throws {
    for seed in Self.seeds(1) {
      var sample = try SalvageSample(seed: seed)
      try sample.grow(commits: 40)
      let earlier = sample.files["store"] ?? []
      try sample.grow(commits: 20)
      try sample.checkpoint()
      try sample.grow(commits: 10, checkpoints: false)
      let content = try sample.content()
      var subject = try SalvageSubject(sample.files, isClosed: false)
      let tables = subject.tableSlots.values.flatMap { $0 }
      let branches = subject.pageSlots.filter { $0.key.level > 0 }.flatMap(\.value)
      subject.keepOldPages(of: earlier)
      var random = SeededGenerator(seed: seed)
      if damage & 1 != 0 { subject.destroy(tables, &random) }
      if damage & 2 != 0 { subject.destroy(branches, &random) }
      if damage & 4 != 0 { for index in 0..<2 { subject.destroyMetaSlot(index, &random) } }
      let salvaged = try subject.salvage()
      let back = sample.deleted.intersection(salvaged.content.messages.keys)
      #expect(back.isEmpty, "seed \(seed): \(back.count) are back")
      #expect(salvaged.content.differences(from: content) == [], "seed \(seed)")
    }
  }

  /// With the page table nothing old can come back; without it, what is deleted from the store is
  /// erased from its free slots, too.
  @Test(arguments: [false, true])
  func randomPages(keepsOldPages: Bool) throws {
    var expectedCount = 0
    var savedCount = 0
    for seed in Self.seeds(3) {
      let (intact, content, deleted) =
        keepsOldPages ? try sampleWithOldPages(seed) : try sample(seed)
      let tables = Set(intact.tableSlots.values.flatMap { $0 })
      var random = SeededGenerator(seed: seed)
      for count in [1, intact.slotCount / 10, intact.slotCount / 2] {
        var subject = intact
        let slots = Set((1...intact.slotCount).shuffled(using: &random).prefix(count))
        subject.destroy(slots, &random)
        let metas = (0..<2).filter { _ in random.chance(30) }
        for index in metas { subject.destroyMetaSlot(index, &random) }
        let salvaged = try subject.salvage()
        let saved = salvaged.content.messages
        let expected = intact.messages(without: slots)
        expectedCount += expected.count
        savedCount += expected.count { saved[$0] != nil }
        let mayComeBack = keepsOldPages && (metas.count == 2 || !tables.isDisjoint(with: slots))
        let back = deleted.count { saved[$0] != nil }
        #expect(mayComeBack || back == 0, "seed \(seed): \(back) are back")
        // Names may be lost, and a status or an edit may be an older one; what was said first may not.
        let changed = saved.count { id, message in
          !deleted.contains(id) && content.messages[id]?.editedAt == nil
            && content.messages[id]?.isRetracted != true
            && Array(message.text.utf8) != Array((content.messages[id]?.text ?? "").utf8)
        }
        #expect(changed == 0, "seed \(seed)")
      }
    }
    #expect(savedCount * 1000 >= expectedCount * 999, "\(savedCount) of \(expectedCount)")
  }
}
