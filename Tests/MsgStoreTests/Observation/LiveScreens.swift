import MsgStore
import PageFile

/// One who follows a live value, at moments of his own.
///
/// He begins at some time and may look long after it, takes what there is or only a part of it, or
/// leaves values out. Whenever the live value has nothing more to say, a fresh read gives the same.
struct LiveScreen {
  /// Starts listening.
  typealias Start = (MessageStore) -> Follow
  /// Takes a value if there is one, and returns whether there was.
  typealias Take = () throws -> Bool
  /// Compares the last value taken with a fresh read.
  typealias Compare = (borrowing StoreSnapshot) throws -> Void

  struct Follow {
    let take: Take
    let compare: Compare
  }

  let name: String
  private let start: Start
  private var follow: Follow?
  private var hasTaken = false
  private(set) var valueCount = 0

  init(_ name: String, _ start: @escaping Start) {
    self.name = name
    self.start = start
  }

  /// Starts, or takes a part of what there is, while others may write.
  mutating func glance(_ store: MessageStore, _ random: inout SeededGenerator) throws {
    guard let follow else { return self.follow = start(store) }
    do {
      repeat {
        guard try follow.take() else { return }
        valueCount += 1
        hasTaken = true
      } while random.chance(50)
    } catch {
      throw WrongValue(name: name, cause: error)
    }
  }

  /// Takes all there is, and compares it with a fresh read; nobody writes meanwhile.
  mutating func settle(_ store: MessageStore) throws {
    guard let follow else { return }
    do {
      while try follow.take() {
        valueCount += 1
        hasTaken = true
      }
      // The first value is there at once.
      try expect(hasTaken)
      try store.read { try follow.compare($0) }
    } catch {
      throw WrongValue(name: name, cause: error)
    }
  }

  /// Looks at the store, or does not.
  mutating func look(_ store: MessageStore, _ random: inout SeededGenerator) throws {
    guard let follow else {
      if random.chance(40) { self.follow = start(store) }
      return
    }
    let dice = Int.random(in: 0..<100, using: &random)
    if dice < 25 { return }
    if dice < 28 {
      // Who comes back begins anew.
      (self.follow, hasTaken) = (nil, false)
      return
    }
    if dice < 75 { return try settle(store) }
    do {
      if try follow.take() {
        valueCount += 1
        hasTaken = true
        return
      }
    } catch {
      throw WrongValue(name: name, cause: error)
    }
    try settle(store)
  }

  private struct WrongValue: Error {
    let name: String
    let cause: any Error
  }
}

extension LiveScreen {
  /// A value that is read by a closure.
  static func value<Value: Equatable & Sendable>(
    _ name: String, _ live: @escaping (MessageStore) -> LiveValue<Value>,
    _ read: @escaping (borrowing StoreSnapshot) throws -> Value
  ) -> LiveScreen {
    LiveScreen(name) { store in
      var values = live(store).makeAsyncIterator()
      var last: Value?
      return Follow {
        guard let value = try values.nextIfThere() else { return false }
        try expect(value != last)
        last = value
        return true
      } compare: { chat in
        try expect(last == read(chat))
      }
    }
  }

  /// A value of a scope, read by the same closure each time.
  static func scope<Value: Equatable & Sendable>(
    _ name: String, _ scope: LiveScope,
    _ read: @escaping @Sendable (borrowing StoreSnapshot) throws -> Value
  ) -> LiveScreen {
    value(name, { $0.live(scope, read) }, read)
  }

  /// A part of a thread, with the rows of two screens: one draws each value, the other leaves some
  /// out.
  static func thread(
    _ name: String, _ live: @escaping (MessageStore) -> LiveThread,
    _ read: @escaping (borrowing StoreSnapshot) throws -> MessageSlice?
  ) -> LiveScreen {
    LiveScreen(name) { store in
      var values = live(store).makeAsyncIterator()
      var rows = LiveRows<ThreadRow>()
      var last: LiveSlice?
      var shown: LiveSlice?
      return Follow {
        guard let value = try values.nextIfThere() else { return false }
        let new = ThreadRow.rows(of: value)
        try rows.apply(value.differences, to: new)
        if rows.drawsNow {
          try rows.applyLate(value.differences(from: shown), to: new)
          shown = value
        }
        if let last {
          try expect(!value.differences.isEmpty)
          try expect(value.differences.isOlderChanged == (last.slice.older != value.slice.older))
          try expect(value.differences.isNewerChanged == (last.slice.newer != value.slice.newer))
        }
        last = value
        return true
      } compare: { chat in
        guard let last, let fresh = try read(chat) else { return }
        try expect(last.slice.older == fresh.older && last.slice.newer == fresh.newer)
        let counts = !last.deliveries.isEmpty
        let new = ThreadRow.rows(
          of: LiveSlice(
            fresh, deliveries: counts ? try chat.deliveries(of: fresh) : [],
            unread: counts ? try chat.unread(in: fresh) : []))
        try expect(ThreadRow.rows(of: last) == new)
        for row in new where row.delivery != nil {
          let message = row.message
          try expect(row.delivery == chat.delivery(of: message.id, in: message.conversation))
        }
      }
    }
  }

  /// The head of a list, with rows.
  static func list(_ name: String, isArchived: Bool, _ count: Int) -> LiveScreen {
    LiveScreen(name) { store in
      let list = store.conversations
      let live = isArchived ? list.live(newestArchived: count) : list.live(newest: count)
      var values = live.makeAsyncIterator()
      var rows = LiveRows<Conversation>()
      var last: ConversationSlice?
      var shown: LiveConversationSlice?
      return Follow {
        guard let value = try values.nextIfThere() else { return false }
        try expect(last == nil || !value.differences.isEmpty)
        try rows.apply(value.differences, to: Array(value.conversations))
        if rows.drawsNow {
          try rows.applyLate(value.differences(from: shown), to: Array(value.conversations))
          shown = value
        }
        last = value.conversations
        return true
      } compare: { chat in
        let fresh =
          isArchived
          ? try chat.archivedConversations(count: count) : try chat.conversations(count: count)
        try expect(last.map(Array.init) == Array(fresh))
        try expect((last?.older == nil) == (fresh.older == nil))
      }
    }
  }
}

/// What a screen shows of a message.
private struct ThreadRow: Equatable {
  let message: Message
  let profile: MemberProfile?
  let delivery: Delivery?
  let isUnread: Bool

  static func rows(of value: LiveSlice) -> [ThreadRow] {
    value.slice.enumerated().map { index, message in
      ThreadRow(
        message: message, profile: message.senderProfile,
        delivery: value.deliveries.isEmpty ? nil : value.deliveries[index],
        isUnread: value.unread.isEmpty ? false : value.unread[index])
    }
  }
}

/// The rows of two screens.
private struct LiveRows<Row: Equatable> {
  private var rows: [Row] = []
  private var lateRows: [Row] = []
  private var count = 0

  /// Whether the screen that leaves values out draws this one: two of three.
  var drawsNow: Bool { count % 3 != 1 }

  mutating func apply(_ differences: LiveDifferences, to new: [Row]) throws {
    count += 1
    differences.apply(to: &rows) { new[$0] }
    try expect(rows == new)
  }

  mutating func applyLate(_ differences: LiveDifferences, to new: [Row]) throws {
    differences.apply(to: &lateRows) { new[$0] }
    try expect(lateRows == new)
  }
}
