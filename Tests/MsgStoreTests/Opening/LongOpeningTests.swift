import Damage
import MsgStore
import PageFile
import Testing

/// The first opening with a local member finds out what is unread in bounded commits, and is finished by
/// the next one wherever it was cut off.
struct LongOpeningTests {
  private static let outboxTree = Cells.workTree
  private static let stepCount = 4

  private func options(
    _ localMember: MemberID?, _ maximumCount: Int = Self.stepCount
  ) -> StoreOptions {
    var options = StoreOptions(localMember: localMember, clock: { time(5_000_000) })
      .makingConversations
    options.worksInBackground = false
    options.steps.maximumOpeningCount = maximumCount
    return options
  }

  private func open(
    _ directory: any StorageDirectory, _ localMember: MemberID?,
    _ maximumCount: Int = Self.stepCount
  ) throws -> MessageStore {
    try MessageStore(in: directory, name: "store", options: options(localMember, maximumCount))
  }

  /// A store of nobody, with much that depends on whose it is.
  private func nobodys(packs: Bool) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    var options = options(nil)
    options.packing = PackingSizes(looseCount: packs ? 2 : 99)
    let store = try MessageStore(in: directory, name: "store", options: options)
    try store.write { chat in
      for room in 0..<14 {
        let id = ConversationID("room\(room)")
        try chat.putConversation(id, participants: ["me", "you", "ann"])
        for index in 0..<12 {
          var message = Message(
            id: MessageID("m\(index)"), in: id, from: index % 4 == 0 ? "me" : "you", text: "text",
            serverTimestamp: time(Int64(index)), sequence: Int64(index))
          if index % 5 == 1 { message.mentions = ["me"] }
          try chat.insert(message, as: .live)
        }
        try chat.receive(
          ReceivedReceipt(
            in: id, of: "me", .read,
            room == 3
              ? .messages((4..<12).map { MessageID("m\($0)") }) : .upTo(MessageID("m\(room % 5)"))))
        try chat.receive(ReceivedReceipt(in: id, of: "you", .read, .upTo("m8")))
        if room % 3 == 0 { _ = try chat.markRead(id, upTo: "m6") }
      }
    }
    try store.expectSound()
    try store.close()
    return directory
  }

  /// All that is stored but tokens.
  private func picture(_ store: MessageStore) throws -> [String] {
    let rooms = try store.read { chat in
      try chat.conversations(count: 99).map { room in
        let ids = try chat.thread(room.id).tail(99).ids
        return "\(room.id) \(room.unreadCount) \(room.unreadMentionCount) \(ids)"
      }
    }
    let totals = try store.read { try $0.unreadTotals }
    return rooms + ["\(totals)"] + (try store.waiting)
  }

  private func cells(_ directory: MemoryDirectory) throws -> [[[UInt8]]] {
    let cells = Cells(directory)
    return try (0..<16).filter { $0 != Self.outboxTree }.flatMap { tree in
      try cells.all(tree).map { [[UInt8(tree)], $0.key, $0.value] }
    }
  }

  /// What a kill before each write leaves of an opening.
  private func cuts(
    _ directory: MemoryDirectory, _ body: (any StorageDirectory) throws -> Void
  ) throws -> (cuts: [MemoryDirectory], maximumCommitByteCount: Int) {
    let found = Locked<(cuts: [MemoryDirectory], maximumByteCount: Int)>(([], 0))
    let hooked = HookedDirectory(directory) { (call, files) throws(PageFileError) in
      guard call.kind == .write, call.name != "store" else { return }
      found.withLock {
        $0.cuts.append(files.copy())
        $0.maximumByteCount = max($0.maximumByteCount, call.bytes.count)
      }
    }
    try body(hooked)
    return found.withLock { ($0.cuts, $0.maximumByteCount) }
  }

  @Test(arguments: [true, false]) func whatIsUnreadIsFoundOutInSteps(_ packs: Bool) throws {
    let start = try nobodys(packs: packs)
    let other = start.copy()
    let (oneCut, wholeByteCount) = try cuts(other) { try open($0, "me", .max).close() }
    let whole = try open(other, "me")
    let expected = try picture(whole)
    #expect(expected.count >= 20)
    try whole.expectSound()
    let expectedCells = try cells(other)

    let directory = start.copy()
    let (cuts, maximumByteCount) = try cuts(directory) { try open($0, "me").close() }
    #expect(cuts.count >= oneCut.count + 3)
    #expect(maximumByteCount <= wholeByteCount / 2)
    #expect(try cells(directory) == expectedCells)

    var halfCount = 0
    for cut in cuts {
      // Who only reads sees a store of nobody, or all of it.
      var readOnly = options(nil)
      readOnly.access = .readOnly
      let reader = try MessageStore(in: cut.copy(), name: "store", options: readOnly)
      try reader.expectSound()
      if reader.localMember == nil {
        #expect(try reader.read { try $0.unreadTotals } == UnreadTotals())
        let unread = try reader.read { try $0.conversations(count: 99).map(\.unreadCount) }
        #expect(unread.allSatisfy { $0 == 0 })
      } else {
        #expect(try picture(reader) == expected)
      }
      try reader.close()
      let isHalf = try Cells(cut).word(.comingMember) != 0
      #expect(try !isHalf || Cells(cut).word(.localMember) == 0)
      if isHalf {
        halfCount += 1
        #expect(throws: StoreError.opening(.localMemberDiffers(stored: "me", given: "you"))) {
          try open(cut.copy(), "you")
        }
        // Whose it is to be is known.
        let nobody = try open(cut.copy(), nil)
        #expect(nobody.localMember == "me")
        #expect(try picture(nobody) == expected)
      }
      let again = try open(cut, "me")
      #expect(try picture(again) == expected)
      try again.expectSound()
      try again.close()
      #expect(try cells(cut) == expectedCells)
    }
    #expect(halfCount >= 3)
  }

  /// A kill in each opening, one after the other, comes to an end as well.
  @Test func openingsThatAreCutOffAgainAndAgainGetThere() throws {
    var directory = try nobodys(packs: false)
    let other = directory.copy()
    let expected = try picture(try open(other, "me", .max))
    for round in 0..<4 {
      let copy = directory.copy()
      let (cuts, _) = try cuts(copy) { try open($0, "me", 4 + round).close() }
      directory = cuts[min(cuts.count - 1, 3 + round)]
    }
    let store = try open(directory, "me")
    #expect(try picture(store) == expected)
    try store.expectSound()
  }
}
