import MsgStore
import PageFile
import Testing

/// Live values of random stores, compared with fresh reads.
struct LiveModelTests {
  /// A message with the name and the picture of its author, which are no part of it.
  private struct Row: Equatable {
    let message: Message
    let profile: MemberProfile?
    var id: MessageID { message.id }

    init(_ message: Message) {
      self.message = message
      profile = message.senderProfile
    }
  }

  /// One who follows, and has the rows of a screen.
  private final class Follower {
    private let name: ConversationID
    private let pin: MessageID?
    private let count: Int
    private var values: LiveThread.Iterator?
    private var rows: [Row] = []
    private var edges: [SliceBoundary] = []
    private(set) var valueCount = 0

    init(_ name: ConversationID, around pin: MessageID?, _ count: Int) {
      (self.name, self.pin, self.count) = (name, pin, count)
    }

    /// Takes what there is, and compares it with what a fresh read gives.
    func look(_ store: MessageStore) throws {
      let isFirst = values == nil
      if isFirst {
        let thread = store.thread(name)
        let live = pin.map { thread.live(around: $0, count: count) } ?? thread.live(newest: count)
        values = live.makeAsyncIterator()
      }
      let value = try values?.nextIfThere()
      try expect(value != nil || !isFirst)
      if let value {
        valueCount += 1
        let differences = value.differences
        try expect(isFirst || !differences.isEmpty)
        try check(differences, value.slice)
        if !isFirst {
          try expect(differences.isOlderChanged == (edges.first != value.slice.older))
          try expect(differences.isNewerChanged == (edges.last != value.slice.newer))
        }
        edges = [value.slice.older, value.slice.newer]
      }
      let fresh = try store.read { chat in try self.read(chat) }
      guard let fresh else { return }
      try expect(rows == fresh.map(Row.init))
      try expect(edges == [fresh.older, fresh.newer])
    }

    private func check(_ differences: LiveDifferences, _ slice: MessageSlice) throws {
      let old = rows
      differences.apply(to: &rows) { Row(slice[$0]) }
      try expect(rows == slice.map(Row.init))
      for index in differences.removed {
        try expect(!slice.contains { $0.id == old[index].id })
      }
      for index in differences.inserted {
        try expect(!old.contains { $0.id == slice[index].id })
      }
      for move in differences.moved { try expect(old[move.from].id == slice[move.to].id) }
      for index in differences.changed {
        try expect(old.first { $0.id == slice[index].id } != Row(slice[index]))
      }
    }

    /// nil where only who follows knows the place: around a message that was deleted.
    private func read(_ chat: borrowing StoreSnapshot) throws -> MessageSlice? {
      let thread = try chat.thread(name)
      guard let pin else { return try thread.tail(count) }
      return try chat.message(pin, in: name) == nil ? nil : thread.around(pin, count: count)
    }
  }

  @Test(arguments: seeds(6)) func liveThreadsAreAsFreshReads(seed: UInt64) {
    var valueCount = 0
    RandomStore(seed: seed).expectSound(stepCount: 120) { made in
      var random = SeededGenerator(seed: seed ^ 0x11FE)
      var followers: [Follower] = []
      for name: ConversationID in ["a", "b", "c", "d"] {
        followers.append(Follower(name, around: nil, 1 + Int(random.next() % 12)))
        followers.append(
          Follower(
            name, around: MessageID("m\(random.next() % 30)"), 1 + Int(random.next() % 9)))
      }
      let store = try made.play { store in
        // An expiry is told with the step that lets its message go.
        try store.finishWork()
        for follower in followers where random.chance(70) { try follower.look(store) }
      }
      for follower in followers { try follower.look(store) }
      valueCount = followers.map(\.valueCount).max() ?? 0
      try store.close()
      return nil
    }
    #expect(valueCount > 1, "or nothing was compared")
  }

  @Test(arguments: seeds(6), [1, 2, 10])
  func liveListsAreAsFreshReads(seed: UInt64, count: Int) {
    RandomStore(seed: seed).expectSound(stepCount: 60) { made in
      var random = SeededGenerator(seed: seed ^ 0x115)
      var values: LiveConversations.Iterator?
      var rows: [Conversation] = []
      let store = try made.play { store in
        // An expiry is told with the step that lets its message go.
        try store.finishWork()
        if values == nil { values = store.conversations.live(newest: count).makeAsyncIterator() }
        guard random.chance(70) else { return }
        if let value = try values?.nextIfThere() {
          value.differences.apply(to: &rows) { value.conversations[$0] }
          try expect(rows == Array(value.conversations))
        }
        let fresh = try store.read { try $0.conversations(count: count) }
        try expect(rows == Array(fresh))
      }
      try store.close()
      return nil
    }
  }
}
