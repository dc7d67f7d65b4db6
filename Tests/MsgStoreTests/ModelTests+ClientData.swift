import MsgStore
import PageFile
import Testing

/// How a random run opens its store, and what goes on beside its transactions.
struct ModelSetting {
  let seed: UInt64
  /// Whether messages expire, mutes end, and there are own fields and tags; then nothing goes on
  /// in the background.
  let hasClientData: Bool
  let clock = TestClock(50)
  private let directory = MemoryDirectory()

  init(seed: UInt64, hasClientData: Bool) {
    self.seed = seed
    self.hasClientData = hasClientData
  }

  func open(
    _ localMember: MemberID?, _ access: StoreOptions.Access = .readWrite
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: localMember, clock: { [clock] in clock.now })
    options.access = access
    options.packing = .random(seed)
    if hasClientData {
      options.worksInBackground = false
      if seed % 2 == 0 { options.steps = StepSizes(maximumSweepCount: 5 + Int(seed % 7)) }
    }
    return try MessageStore(
      in: directory, name: "store", options: options.makingConversations)
  }

  /// Sets the clock, in both directions.
  func moveClock(_ naive: inout NaiveStore, _ random: inout SeededGenerator) {
    guard hasClientData, random.chance(40) else { return }
    clock.set(.random(in: 30...120, using: &random))
    naive.clock = clock.now.microseconds
  }

  /// Lets go, brings back, and erases all that has expired by the clock, within a transaction.
  func finishSteps(_ chat: borrowing StoreWriter, _ naive: inout NaiveStore) throws {
    guard hasClientData else { return }
    for _ in 0..<100 { try chat.doWork() }
    naive.finishSteps()
  }

  /// Does a part of that, or all of it, in transactions of its own; returns true if nothing is
  /// left to do.
  func work(
    _ store: MessageStore, _ naive: inout NaiveStore, _ rooms: [ConversationID],
    _ random: inout SeededGenerator
  ) throws -> Bool {
    guard hasClientData else { return true }
    if random.chance(30) {
      try store.write { try $0.doWork() }
      try noteErased(store, &naive, rooms)
    }
    guard random.chance(60) else { return false }
    try store.finishWork()
    naive.finishSteps()
    if random.chance(30) { try noteErased(store, &naive, rooms) }
    return true
  }

  /// Looks at a time before all others which messages and mutes a step has ended, and if it might.
  func noteErased(
    _ store: MessageStore, _ naive: inout NaiveStore, _ rooms: [ConversationID]
  ) throws {
    guard hasClientData else { return }
    clock.set(0)
    defer { clock.set(naive.clock) }
    for id in rooms {
      guard let room = naive.rooms[id] else { continue }
      let (left, isMuted) = try store.read { chat in
        (try Set(chat.thread(id).tail(1000).map(\.id)), try chat.conversation(id)?.isMuted)
      }
      for stored in room.sorted where !left.contains(stored.message.id) {
        let isDue = naive.mayErase(stored.message.id, id)
        try #require(isDue, "\(stored.message.id) erased before its time")
      }
      try #require(left.count == naive.rooms[id]?.messages.count)
      guard naive.muteEnd(id) != nil, isMuted == false else { continue }
      let isDue = naive.mayEndMute(id)
      try #require(isDue)
    }
  }
}

extension ModelTests {
  private static let tags: [MessageTag] = [.pinned, .starred, .link, .own("a"), .own("\u{E9}")]

  private func end(_ random: inout SeededGenerator) -> Int64 {
    .random(in: 20...200, using: &random)
  }

  /// Adds what a copy of a message may say beside its text.
  func addClientData(to message: inout Message, _ random: inout SeededGenerator) {
    // Own messages that were not sent are held once they come back, which is tested apart.
    if message.serverTimestamp == nil { message.sender = "you" }
    if random.chance(15) { message.expiresAt = time(end(&random)) }
    if random.chance(20) {
      message.ownFields = [fieldWord(&random), fieldWord(&random)]
        .filter { !$0.name.isEmpty && $0.value != nil }.map(\.told)
    }
    if random.chance(30) {
      message.replyTo = MessageID("m\(Int.random(in: 1..<5, using: &random))")
    }
  }

  private func fieldWord(_ random: inout SeededGenerator) -> NaiveStore.FieldWord {
    let isKind = random.chance(15)
    let byte = UInt8.random(in: 65...67, using: &random)
    // Long values differ in length or are the same: their digests decide nothing.
    let length =
      isKind || random.chance(80)
      ? Int.random(in: 1...3, using: &random) : 257 + Int(byte)
    return NaiveStore.FieldWord(
      name: isKind ? "" : "f\(Int.random(in: 0..<20, using: &random))",
      value: random.chance(80) ? [UInt8](repeating: byte, count: length) : nil,
      time: random.chance(70) ? .random(in: 0..<6, using: &random) : nil,
      isLocal: !isKind && random.chance(20))
  }

  /// Something that is told of a message, a conversation, or a member.
  func clientStep(
    _ chat: borrowing StoreWriter, _ naive: inout NaiveStore, _ random: inout SeededGenerator
  ) throws {
    let some = randomMessage(&random)
    let (id, room) = (some.id, some.conversation)
    switch Int.random(in: 0..<100, using: &random) {
    case ..<20:
      let end = end(&random)
      let isNews = naive.receiveExpiry(end, of: id, room)
      try #require(try chat.receiveExpiry(of: id, in: room, at: time(end)) == isNews)
    case ..<55:
      let owner = owner(of: some, &random)
      let words = (0..<Int.random(in: 1...3, using: &random)).map { _ in fieldWord(&random) }
      let isNews = naive.receive(words, of: owner)
      try #require(try chat.receive(words.map(\.told), of: owner) == isNews)
    case ..<75:
      let word = NaiveStore.TagWord(
        tag: Self.tags.randomElement(using: &random) ?? .pinned,
        time: .random(in: 0..<6, using: &random), isRemoved: random.chance(30))
      let isNews = naive.receive(word, of: id, room)
      try #require(
        try chat.receiveTag(
          word.tag, isRemoved: word.isRemoved, of: id, in: room, at: time(word.time)) == isNews)
    default: try mute(room, chat, &naive, &random)
    }
  }

  private func owner(of some: Message, _ random: inout SeededGenerator) -> FieldOwner {
    switch Int.random(in: 0..<10, using: &random) {
    case ..<6: .message(some.id, in: some.conversation)
    case ..<8: .conversation(some.conversation)
    default: .member(some.sender)
    }
  }

  private func mute(
    _ room: ConversationID, _ chat: borrowing StoreWriter, _ naive: inout NaiveStore,
    _ random: inout SeededGenerator
  ) throws {
    let isMuted = random.chance(75)
    let end = isMuted && random.chance(75) ? end(&random) : nil
    if random.chance(40) {
      guard naive.rooms[room] != nil else { return }
      let isNews = naive.setMuted(isMuted, room, until: end)
      try #require(try chat.setMuted(isMuted, of: room, until: end.map { time($0) }) == isNews)
      return
    }
    let isThere = naive.rooms[room] != nil
    let newest = naive.provisionalTime(room)
    let word = NaiveStore.MuteWord(
      time: .random(in: max(0, newest - 3)...newest + 1, using: &random), isMuted: isMuted,
      end: end)
    let isNews = naive.receive(word, room)
    let received = ReceivedConversation(room, at: time(word.time)) {
      $0.isMuted = isMuted
      $0.mutedUntil = end.map { time($0) }
    }
    let isChanged = try chat.receive(received)
    if isThere { try #require(isChanged == isNews) }
  }

  // MARK: What readers say

  func compareClientData(
    _ chat: borrowing StoreSnapshot, _ naive: NaiveStore, _ random: inout SeededGenerator,
    _ isSettled: Bool
  ) throws {
    try #require(try chat.nextExpiry == naive.nextExpiry)
    for id in rooms {
      guard let room = naive.rooms[id] else { continue }
      let conversation = try #require(try chat.conversation(id))
      try #require(conversation.isMuted == naive.isMuted(id))
      let end = naive.isMuted(id) ? naive.muteEnd(id) : nil
      try #require(conversation.mutedUntil?.microseconds == end)
      try compareFields(chat, naive, of: .conversation(id))
      guard let some = room.messages.randomElement(using: &random)?.message.id else { continue }
      try compareFields(chat, naive, of: .message(some, in: id))
      if naive.shown(id)?.messages.contains(where: { $0.message.id == some }) == false {
        try #require(try chat.message(some, in: id) == nil)
        #expect(throws: StoreError.message(.notFound, some, in: id)) {
          try chat.thread(id).around(some, count: 3)
        }
      }
      guard isSettled else { continue }
      for tag in Self.tags {
        let names = naive.tagged(tag, id)
        let tagged = try chat.thread(id).tagged(tag)
        try #require(try tagged.tail(1000).ids == names)
        try #require(try tagged.count == names.count)
      }
      for answered in ["m1", "m2", "m3", some] as [MessageID] {
        let replies = try chat.replies(to: answered, in: id)
        let names = naive.replies(to: answered, id)
        try #require(try replies.oldest(1000).ids == names)
        try #require(try replies.count() == names.count)
      }
    }
    for member in members { try compareFields(chat, naive, of: .member(member)) }
    guard isSettled else { return }
    let totals = try chat.unreadTotals
    try #require((totals.messages, totals.mutedMessages) == naive.unread)
    for tag in [.pinned, .starred] as [MessageTag] {
      let count = naive.rooms.keys.reduce(0) { $0 + naive.tagged(tag, $1).count }
      let everywhere = try chat.tagged(tag)
      try #require(try everywhere.newest(1000).count == count)
      try #require(try everywhere.count == count)
    }
  }

  private func compareFields(
    _ chat: borrowing StoreSnapshot, _ naive: NaiveStore, of owner: FieldOwner
  ) throws {
    var words = naive.counting(owner).filter { $0.value != nil }
    if case .message(let id, let room) = owner,
      naive.shown(room)?.messages.contains(where: { $0.message.id == id }) != true
    {
      words = []
    }
    let kind = words.first { $0.name.isEmpty }?.value.map { String(decoding: $0, as: UTF8.self) }
    try #require(try chat.ownKind(of: owner) == kind)
    let fields = try chat.ownFields(of: owner)
    try #require(fields == words.filter { !$0.name.isEmpty }.map(\.told))
  }

  /// Returns true if a message expires when it is to, and has the fields that it is to have, but
  /// for the long values.
  func hasSameClientData(_ message: Message, _ naive: NaiveStore) -> Bool {
    let (id, room) = (message.id, message.conversation)
    guard message.expiresAt?.microseconds == naive.rooms[room]?.ends[id] else { return false }
    let words = naive.counting(.message(id, in: room)).filter { $0.value != nil }
    let kind = words.first { $0.name.isEmpty }?.value.map { String(decoding: $0, as: UTF8.self) }
    let named = words.filter { !$0.name.isEmpty }
    guard message.ownKind == kind, message.ownFields.count == named.count else { return false }
    return zip(message.ownFields, named).allSatisfy { field, word in
      let isLong = word.value?.count ?? 0 > OwnField.maximumPackedByteCount
      return isLong == field.isOmitted && field.name == word.name
        && field.byteCount == word.value?.count && field.time?.microseconds == word.time
        && field.isLocal == word.isLocal && (isLong || field.value == word.value)
    }
  }
}
