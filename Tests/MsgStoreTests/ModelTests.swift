import MsgStore
import PageFile
import RandomChat
import Testing

/// Random operations on a store and on the naive one; after each transaction both answer alike.
struct ModelTests {
  let rooms: [ConversationID] = ["room", "r\u{E9}", "re\u{301}", "other"]
  let members: [MemberID] = ["me", "you", "ann", "bob"]

  @Test(arguments: seeds(8, debugCount: 2)) func aStoreAnswersAsTheNaiveOneDoes(seed: UInt64) throws
  {
    try play(ModelSetting(seed: seed, hasClientData: false))
  }

  /// The same with messages that expire under a clock that goes both ways, steps that let them go,
  /// bring them back, and erase them, mutes that end, own fields, tags, and replies.
  @Test(arguments: seeds(8, debugCount: 1)) func aStoreWithClientDataAnswersAsTheNaiveOneDoes(
    seed: UInt64
  ) throws {
    try play(ModelSetting(seed: seed, hasClientData: true))
  }

  private func play(_ setting: ModelSetting) throws {
    var random = SeededGenerator(seed: setting.seed)
    let localMember: MemberID? = random.chance(80) ? "me" : nil
    var naive = NaiveStore(localMember: localMember, clock: setting.clock.now.microseconds)
    var store = try setting.open(localMember)
    var saved: [NaivePlace] = []
    var dictionaryNumber: UInt32 = 0
    for _ in 0..<120 {
      setting.moveClock(&naive, &random)
      let before = naive
      let isRolledBack = random.chance(15)
      do {
        try store.write(random.chance(50) ? .full : .relaxed) { chat in
          for _ in 0..<Int.random(in: 0..<12, using: &random) {
            try step(chat, &naive, &random, saved, setting)
            if random.chance(4) { try burst(chat, &naive, &random) }
            if random.chance(5) { try compareList(chat, &naive, setting) }
          }
          // What gaps do to slices is tested apart.
          for room in naive.rooms.keys { try chat.declareAbsent(-3...5, in: room) }
          if isRolledBack { throw CancellationError() }
        }
        naive.commit()
      } catch is CancellationError {
        naive = before
      }
      let isSettled = try setting.work(store, &naive, rooms, &random)
      try compare(store, naive, &random, &saved, setting, isSettled)
      if random.chance(4) {
        dictionaryNumber += 1
        try store.packAnew(with: dictionaryNumber)
        // A compaction does the steps that are left, too.
        try setting.noteErased(store, &naive, rooms)
      }
      if random.chance(5) {
        try store.close()
        let reader = try setting.open(localMember, .readOnly)
        try compare(reader, naive, &random, &saved, setting, isSettled)
        try reader.expectSound()
        try reader.close()
        store = try setting.open(localMember)
      }
      if random.chance(5) {
        try store.checkpoint()
        try store.close()
        store = try setting.open(localMember)
      }
    }
    try store.expectSound()
    guard localMember == nil else { return }
    // The local member becomes known: everything is counted anew.
    try store.close()
    store = try setting.open("me")
    naive.localMember = "me"
    let isSettled = try setting.work(store, &naive, rooms, &random)
    try compare(store, naive, &random, &saved, setting, isSettled)
    try store.expectSound()
  }

  func randomMessage(_ random: inout SeededGenerator) -> Message {
    let isPending = random.chance(35)
    let texts = ["", "hello", "привет 👋", "e\u{301}", String(repeating: "long text ", count: 300)]
    let number = Int.random(in: 0..<40, using: &random)
    let status = MessageStatus.allCases.randomElement(using: &random)
    return Message(
      id: MessageID(
        number % 7 == 0 ? "m\(number)-\(String(repeating: "x", count: 40))" : "m\(number)"),
      in: rooms.randomElement(using: &random) ?? "room",
      from: members.randomElement(using: &random) ?? "me",
      text: texts.randomElement(using: &random) ?? "",
      localTime: random.chance(60) ? time(.random(in: 0..<100, using: &random)) : nil,
      serverTimestamp: isPending ? nil : time(.random(in: 0..<65, using: &random)),
      sequence: random.chance(60) ? .random(in: -3..<6, using: &random) : nil,
      status: random.chance(30) ? status : nil, replyTo: random.chance(20) ? "m1" : nil)
  }

  /// Many messages of one time without sequences, as of an import whose times are whole minutes.
  private func burst(
    _ chat: borrowing StoreWriter, _ naive: inout NaiveStore, _ random: inout SeededGenerator
  ) throws {
    let (room, time) = (
      randomMessage(&random).conversation, Int64.random(in: 0..<9, using: &random)
    )
    for _ in 0..<Int.random(in: 5..<30, using: &random) {
      var some = randomMessage(&random)
      (some.conversation, some.sequence) = (room, nil)
      some.serverTimestamp = MsgStoreTests.time(time)
      try #require(try chat.insert(some, as: .history) == naive.insert(some, .history))
    }
  }

  private func step(
    _ chat: borrowing StoreWriter, _ naive: inout NaiveStore, _ random: inout SeededGenerator,
    _ saved: [NaivePlace], _ setting: ModelSetting
  ) throws {
    if setting.hasClientData, random.chance(35) { return try clientStep(chat, &naive, &random) }
    var some = randomMessage(&random)
    if setting.hasClientData { addClientData(to: &some, &random) }
    let room = some.conversation
    switch Int.random(in: 0..<100, using: &random) {
    case ..<50:
      let arrival: Arrival = random.chance(70) ? .live : .history
      try #require(try chat.insert(some, as: arrival) == naive.insert(some, arrival))
    case ..<65:
      let stamp = time(.random(in: 0..<65, using: &random))
      let revision: Int64 = random.chance(20) ? .random(in: 1..<3, using: &random) : 0
      let isThere = try chat.acknowledge(
        some.id, in: room, serverTimestamp: stamp, sequence: some.sequence, revision: revision)
      try #require(
        isThere == naive.acknowledge(some.id, room, stamp, some.sequence, revision: revision))
    case ..<72:
      try #require(
        try chat.setStatus(some.status, of: some.id, in: room)
          == naive.setStatus(some.status, some.id, room))
    case ..<85:
      try #require(try chat.delete(some.id, in: room) == naive.delete(some.id, room))
    case ..<90:
      let participants = members.filter { _ in random.chance(50) } + ["ann", "me"]
      try chat.putConversation(room, participants: participants, title: some.text)
      naive.put(room, participants, some.text)
    default:
      // Unread are those that the counters have not let go.
      try setting.finishSteps(chat, &naive)
      let limit = random.chance(50) ? saved.randomElement(using: &random) : nil
      let isChanged = try chat.markRead(room, upTo: limit?.position)
      let isExpected = naive.markRead(room, upTo: limit)
      // Without a local member the store cannot know that nothing was unread.
      if naive.localMember != nil { try #require(isChanged == isExpected) }
    }
  }

  private func compareList(
    _ chat: borrowing StoreWriter, _ naive: inout NaiveStore, _ setting: ModelSetting
  ) throws {
    try setting.finishSteps(chat, &naive)
    try #require(try chat.conversations(count: 100).map(\.id) == naive.list)
  }

  /// - Parameter isSettled: True if no step has anything to do, so that counters and lists are
  ///   those of the clock, too.
  private func compare(
    _ store: MessageStore, _ naive: NaiveStore, _ random: inout SeededGenerator,
    _ saved: inout [NaivePlace], _ setting: ModelSetting, _ isSettled: Bool
  ) throws {
    try store.read { chat in
      if isSettled {
        try #require(try chat.conversations(count: 100).map(\.id) == naive.list)
        try comparePages(chat, naive, count: .random(in: 1..<4, using: &random))
      }
      // In an order of their own, so that a seed replays the same.
      for id in rooms {
        guard let room = naive.shown(id) else { continue }
        if isSettled { try compareEntry(chat, naive, id, room) }
        try compareSlices(chat, id, room.sorted, &random, &saved, naive)
      }
      try #require(try chat.conversation("nobody") == nil)
      try #require(try chat.thread("nobody").tail(5).isEmpty)
      if setting.hasClientData { try compareClientData(chat, naive, &random, isSettled) }
    }
  }

  /// Compares a conversation as a list shows it.
  private func compareEntry(
    _ chat: borrowing StoreSnapshot, _ naive: NaiveStore, _ id: ConversationID,
    _ room: NaiveStore.Room
  ) throws {
    let conversation = try #require(try chat.conversation(id))
    try #require(Set(conversation.participants) == Set(room.participants))
    try #require(conversation.title == room.title)
    try #require(conversation.messageCount == room.messages.count)
    try #require(conversation.unreadCount == naive.unreadCount(id))
    try #require(conversation.lastActivity?.microseconds == room.activity)
    let shown = room.shown
    try #require(conversation.preview?.messageID == shown?.message.id)
    try #require(conversation.preview?.status == shown?.message.status)
    try #require(conversation.preview?.sender == shown?.message.sender)
    try #require(conversation.preview?.serverTimestamp == shown?.message.serverTimestamp)
    try #require(
      conversation.preview?.text == shown.map { ConversationPreview.cut($0.message.text) })
  }

  private func comparePages(
    _ chat: borrowing StoreSnapshot, _ naive: NaiveStore, count: Int
  ) throws {
    var found: [ConversationID] = []
    var next: ConversationPosition?
    repeat {
      let slice = try chat.conversations(count: count, after: next)
      found += slice.map(\.id)
      next = slice.older
    } while next != nil
    try #require(found == naive.list)
  }

  private func compareSlices(
    _ chat: borrowing StoreSnapshot, _ id: ConversationID, _ sorted: [NaiveStore.Stored],
    _ random: inout SeededGenerator, _ saved: inout [NaivePlace], _ naive: NaiveStore
  ) throws {
    let thread = try chat.thread(id)
    let count = Int.random(in: 1..<12, using: &random)
    try expect(thread.tail(count), sorted, sorted.count - count, count)
    let all = try thread.tail(1000)
    try expect(all, sorted, 0, 1000)
    for message in all { try #require(hasSameClientData(message, naive)) }
    if let stored = sorted.randomElement(using: &random) {
      saved.append(stored.place)
      let message = try #require(try chat.message(stored.message.id, in: id))
      try #require(isSame(message, stored))
      try #require(hasSameClientData(message, naive))
      let index = sorted.firstIndex { $0.message.id == stored.message.id } ?? 0
      try expectAround(thread.around(stored.message.id, count: count), sorted, index, count)
    }
    #expect(throws: StoreError.message(.notFound, "none", in: id)) {
      try thread.around("none", count: count)
    }
    try #require(try chat.message("none", in: id) == nil)
    if let place = saved.randomElement(using: &random) {
      let lower = sorted.prefix { NaivePlace.precedes($0.place, place) }.count
      let upper = sorted.prefix { !NaivePlace.precedes(place, $0.place) }.count
      try expect(
        thread.before(place.position, count: count), sorted, lower - count, count, end: lower)
      try expect(thread.after(place.position, count: count), sorted, upper, count)
    }
    let moment = Int64.random(in: -8..<65, using: &random)
    let pivot = sorted.prefix { ($0.message.serverTimestamp?.microseconds ?? .max) < moment }.count
    try expectAround(thread.at(time(moment), count: count), sorted, pivot, count)
  }

  private func expectAround(
    _ slice: MessageSlice, _ sorted: [NaiveStore.Stored], _ pivot: Int, _ count: Int
  ) throws {
    let latest = max(0, sorted.count - count)
    try expect(slice, sorted, min(max(0, pivot - count / 2), latest), count)
  }

  private func expect(
    _ slice: MessageSlice, _ sorted: [NaiveStore.Stored], _ start: Int, _ count: Int,
    end: Int? = nil
  ) throws {
    let lower = max(0, start)
    let upper = end ?? min(sorted.count, lower + count)
    try #require(slice.count == upper - lower)
    for (message, stored) in zip(slice, sorted[lower..<upper]) where !isSame(message, stored) {
      try #require(message == stored.message)
    }
    try #require((slice.older == .end) == (lower == 0))
    try #require((slice.newer == .end) == (upper == sorted.count))
    if lower > 0, lower < upper { try #require(slice.older == .more(sorted[lower].place.position)) }
    if upper < sorted.count, lower < upper {
      try #require(slice.newer == .more(sorted[upper - 1].place.position))
    }
  }

  private func isSame(_ message: Message, _ stored: NaiveStore.Stored) -> Bool {
    let expected = stored.message
    return message.id == expected.id && message.sender == expected.sender
      && message.conversation == expected.conversation
      && message.text.hasSameBytes(as: expected.text)
      && message.localTime == expected.localTime
      && message.serverTimestamp == expected.serverTimestamp
      && message.sequence == expected.sequence && message.status == expected.status
      && message.replyTo == expected.replyTo && message.position == stored.place.position
  }
}
