import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A message with very many facts is gone at once, and its facts are erased in steps.
@Suite struct ErasingInStepsTests {
  enum End: CaseIterable, Sendable {
    case deleted, retracted
  }

  private static let canary = "Kanarienvogel"
  private static let factCount = 500
  private static let stepCount = 60

  private func options() -> StoreOptions {
    countedOptions { $0.steps = StepSizes(maximumSweepCount: Self.stepCount) }
  }

  /// A store with a message that has many versions and reactions, beside another message.
  private func filled(_ files: MemoryDirectory) throws -> MessageStore {
    let store = try MessageStore(in: files, name: "store", options: options())
    try store.write { chat in
      var given = message("m", at: 1, text: Self.canary)
      given.reactions = (0..<Self.factCount).map {
        Reaction("\(Self.canary) \($0)", from: "you", at: time(2))
      }
      try chat.insert(given)
      try chat.insert(message("other", at: 2))
      for index in 0..<20 as Range<Int64> {
        try chat.receiveEdit(
          of: "m", in: "room", text: "\(Self.canary) \(index)", at: time(10 + index))
      }
      try chat.receive(ReceivedReceipt(in: "room", of: "you", .read, .messages(["m"])))
    }
    return store
  }

  private func end(_ end: End, _ store: MessageStore) throws {
    try store.write { chat throws in
      switch end {
      case .deleted: #expect(try chat.delete("m", in: "room"))
      case .retracted: #expect(try chat.receiveRetraction(of: "m", in: "room"))
      }
    }
  }

  private func factCount(_ store: MessageStore) throws -> Int {
    try store.read { chat in
      try chat.within { (view) throws(StoreError) in
        var count = 0
        try view.facts.forEachFact(FactKey.prefix(1, "m")) { _, _ in count += 1 }
        return count
      }
    }
  }

  private func expectGone(_ store: MessageStore) throws {
    let shown = try store.message("m")
    #expect(shown?.text ?? "" == "" && shown?.reactionCounts ?? [] == [])
    #expect(try store.read { try $0.reactions(to: "m", in: "room") } == [])
    #expect(try store.read { try $0.history(of: "m", in: "room") } == [])
    #expect(try !store.lines().contains(Self.canary.utf8))
    try store.expectSound()
  }

  @Test(arguments: End.allCases) func whatIsLeftGoesInSteps(_ how: End) throws {
    var files = MemoryDirectory()
    var store = try filled(files)
    let before = try factCount(store)
    try end(how, store)
    // No commit changes more than a step may, and a killed process goes on later.
    var left = try factCount(store)
    #expect(left >= before - Self.stepCount - 1 && left > Self.stepCount)
    try expectGone(store)
    var stepCount = 0
    while try store.read({ try $0.hasWork }) {
      stepCount += 1
      try store.write { try $0.doWork() }
      let new = try factCount(store)
      #expect(new >= left - Self.stepCount)
      left = new
      try expectGone(store)
      if stepCount == 3 {
        files = files.copy()
        store = try MessageStore(in: files, name: "store", options: options())
        try expectGone(store)
      }
    }
    #expect(left <= 1 && stepCount > before / Self.stepCount / 2)
    try store.checkpoint()
    for name in ["store", "store-wal0", "store-wal1"] {
      let bytes = files[name] ?? []
      #expect(!bytes.contains(Self.canary.utf8), "\(name)")
    }
  }

  @Test(arguments: End.allCases) func nothingComesBackWithTheConversation(_ how: End) throws {
    let store = try filled(MemoryDirectory())
    try end(how, store)
    // The conversation is merged, and its messages get other names, before the steps.
    try store.write { chat in
      try chat.receive(Reaction("👍", from: "ann", at: time(99)), to: "m", in: "room")
      if how == .retracted {
        try chat.acknowledge("m", in: "room", serverTimestamp: time(1), as: "server")
      }
      try chat.insert(
        Message(
          id: "there", in: "new room", from: "you", text: "hello", serverTimestamp: time(5)))
      try chat.renameConversation("room", to: "new room")
    }
    try store.expectSound()
    while try store.read({ try $0.hasWork }) { try store.write { try $0.doWork() } }
    try store.expectSound()
    #expect(try !store.lines().contains(Self.canary.utf8))
    #expect(try store.read { try $0.message("other", in: "new room") } != nil)
  }
}
