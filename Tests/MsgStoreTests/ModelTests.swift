import MsgStore
import PageFile
import Testing

/// Random operations on a store and on the naive one; after each transaction both answer alike.
@Suite struct ModelTests {
  private let rooms: [ConversationID] = ["room", "r\u{E9}", "re\u{301}", "other"]
  private let members: [MemberID] = ["me", "you", "ann", "bob"]

  @Test(arguments: seeds(8)) func aStoreAnswersAsTheNaiveOneDoes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = MemoryDirectory()
    let localMember: MemberID? = random.chance(80) ? "me" : nil
    var naive = NaiveStore(localMember: localMember, clock: 50)
    var store = try memoryStore(directory, localMember: localMember, clock: 50)
    var saved: [NaivePlace] = []
    for _ in 0..<120 {
      let before = naive
      let isRolledBack = random.chance(15)
      do {
        try store.write(random.chance(50) ? .full : .relaxed) { chat in
          for _ in 0..<Int.random(in: 0..<12, using: &random) {
            try step(chat, &naive, &random, saved)
            if random.chance(5) { try compareList(chat, naive) }
          }
          // What gaps do to slices is tested apart.
          for room in naive.rooms.keys { try chat.declareAbsent(-3...5, in: room) }
          if isRolledBack { throw CancellationError() }
        }
      } catch is CancellationError {
        naive = before
      }
      try compare(store, naive, &random, &saved)
      if random.chance(5) {
        try store.checkpoint()
        try store.close()
        store = try memoryStore(directory, localMember: localMember, clock: 50)
      }
    }
    try store.expectSound()
    guard localMember == nil else { return }
    // The local member becomes known: everything is counted anew.
    try store.close()
    store = try memoryStore(directory, localMember: "me", clock: 50)
    naive.localMember = "me"
    try compare(store, naive, &random, &saved)
    try store.expectSound()
  }

  private func randomMessage(_ random: inout SeededGenerator) -> Message {
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
      localTime: random.chance(60) ? time(.random(in: -20..<80, using: &random)) : nil,
      serverTimestamp: isPending ? nil : time(.random(in: -5..<60, using: &random)),
      sequence: random.chance(60) ? .random(in: -3..<6, using: &random) : nil,
      status: random.chance(30) ? status : nil, replyTo: random.chance(20) ? "m1" : nil)
  }

  private func step(
    _ chat: borrowing StoreWriter, _ naive: inout NaiveStore, _ random: inout SeededGenerator,
    _ saved: [NaivePlace]
  ) throws {
    let some = randomMessage(&random)
    let room = some.conversation
    switch Int.random(in: 0..<100, using: &random) {
    case ..<50:
      let arrival: Arrival = random.chance(70) ? .live : .history
      #expect(try chat.insert(some, as: arrival) == naive.insert(some, arrival))
    case ..<65:
      let stamp = time(.random(in: -5..<60, using: &random))
      let isThere = try chat.acknowledge(
        some.id, in: room, serverTimestamp: stamp, sequence: some.sequence)
      #expect(isThere == naive.acknowledge(some.id, room, stamp, some.sequence))
    case ..<72:
      #expect(
        try chat.setStatus(some.status, of: some.id, in: room)
          == naive.setStatus(some.status, some.id, room))
    case ..<85:
      #expect(try chat.delete(some.id, in: room) == naive.delete(some.id, room))
    case ..<90:
      let participants = members.filter { _ in random.chance(50) } + ["ann"]
      try chat.putConversation(room, participants: participants, title: some.text)
      naive.put(room, participants, some.text)
    default:
      let limit = random.chance(50) ? saved.randomElement(using: &random) : nil
      let isChanged = try chat.markRead(room, upTo: limit?.position)
      let isExpected = naive.markRead(room, upTo: limit)
      // Without a local member the store cannot know that nothing was unread.
      if naive.localMember != nil { #expect(isChanged == isExpected) }
    }
  }

  private func compareList(_ chat: borrowing StoreWriter, _ naive: NaiveStore) throws {
    #expect(try chat.conversations(count: 100).map(\.id) == naive.list)
  }

  private func compare(
    _ store: MessageStore, _ naive: NaiveStore, _ random: inout SeededGenerator,
    _ saved: inout [NaivePlace]
  ) throws {
    try store.read { chat in
      #expect(try chat.conversations(count: 100).map(\.id) == naive.list)
      try comparePages(chat, naive, count: .random(in: 1..<4, using: &random))
      for (id, room) in naive.rooms {
        let sorted = room.sorted
        let conversation = try #require(try chat.conversation(id))
        #expect(Set(conversation.participants) == Set(room.participants))
        #expect(conversation.title == room.title)
        #expect(conversation.messageCount == sorted.count)
        #expect(conversation.unreadCount == naive.unreadCount(id))
        #expect(conversation.lastActivity?.microseconds == room.activity)
        #expect(conversation.preview?.messageID == sorted.last?.message.id)
        #expect(conversation.preview?.status == sorted.last?.message.status)
        #expect(conversation.preview?.sender == sorted.last?.message.sender)
        #expect(conversation.preview?.serverTimestamp == sorted.last?.message.serverTimestamp)
        #expect(conversation.preview?.text == sorted.last.map { Preview.cut($0.message.text) })
        try compareSlices(chat, id, sorted, &random, &saved)
      }
      #expect(try chat.conversation("nobody") == nil)
      #expect(try chat.thread("nobody").tail(5).isEmpty)
    }
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
    #expect(found == naive.list)
  }

  private func compareSlices(
    _ chat: borrowing StoreSnapshot, _ id: ConversationID, _ sorted: [NaiveStore.Stored],
    _ random: inout SeededGenerator, _ saved: inout [NaivePlace]
  ) throws {
    let thread = try chat.thread(id)
    let count = Int.random(in: 1..<12, using: &random)
    expect(try thread.tail(count), sorted, sorted.count - count, count)
    expect(try thread.tail(1000), sorted, 0, 1000)
    if let stored = sorted.randomElement(using: &random) {
      saved.append(stored.place)
      let message = try #require(try chat.message(stored.message.id, in: id))
      expectSame(message, stored)
      let index = sorted.firstIndex { $0.message.id == stored.message.id } ?? 0
      expectAround(try thread.around(stored.message.id, count: count), sorted, index, count)
    }
    #expect(throws: StoreError.messageNotFound("none", in: id)) {
      try thread.around("none", count: count)
    }
    #expect(try chat.message("none", in: id) == nil)
    if let place = saved.randomElement(using: &random) {
      let lower = sorted.prefix { NaivePlace.precedes($0.place, place) }.count
      let upper = sorted.prefix { !NaivePlace.precedes(place, $0.place) }.count
      expect(
        try thread.before(place.position, count: count), sorted, lower - count, count, end: lower)
      expect(try thread.after(place.position, count: count), sorted, upper, count)
    }
    let moment = Int64.random(in: -8..<65, using: &random)
    let pivot = sorted.prefix { ($0.message.serverTimestamp?.microseconds ?? .max) < moment }.count
    expectAround(try thread.at(time(moment), count: count), sorted, pivot, count)
  }

  private func expectAround(
    _ slice: Slice, _ sorted: [NaiveStore.Stored], _ pivot: Int, _ count: Int
  ) {
    let latest = max(0, sorted.count - count)
    expect(slice, sorted, min(max(0, pivot - count / 2), latest), count)
  }

  private func expect(
    _ slice: Slice, _ sorted: [NaiveStore.Stored], _ start: Int, _ count: Int, end: Int? = nil
  ) {
    let lower = max(0, start)
    let upper = end ?? min(sorted.count, lower + count)
    #expect(slice.count == upper - lower)
    for (message, stored) in zip(slice, sorted[lower..<upper]) { expectSame(message, stored) }
    #expect((slice.older == .end) == (lower == 0))
    #expect((slice.newer == .end) == (upper == sorted.count))
    if lower > 0, lower < upper { #expect(slice.older == .more(sorted[lower].place.position)) }
    if upper < sorted.count, lower < upper {
      #expect(slice.newer == .more(sorted[upper - 1].place.position))
    }
  }

  private func expectSame(_ message: Message, _ stored: NaiveStore.Stored) {
    #expect(message.id == stored.message.id && message.sender == stored.message.sender)
    #expect(message.conversation == stored.message.conversation)
    #expect(Array(message.text.utf8) == Array(stored.message.text.utf8))
    #expect(message.localTime == stored.message.localTime)
    #expect(message.serverTimestamp == stored.message.serverTimestamp)
    #expect(message.sequence == stored.message.sequence)
    #expect(message.status == stored.message.status)
    #expect(message.replyTo == stored.message.replyTo)
    #expect(message.position == stored.place.position)
  }
}
