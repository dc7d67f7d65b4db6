import MsgStore

/// The store as simply as it can be said: arrays, sorted anew for each question.
struct NaiveStore {
  struct Stored {
    var message: Message
    var localOrder: Int64 = 0
    /// Whether it came live and has not been marked read since.
    var isUnseen: Bool

    var place: NaivePlace {
      NaivePlace(
        serverTime: message.serverTimestamp?.microseconds, sequence: message.sequence,
        localTime: message.localTime?.microseconds ?? 0, localOrder: localOrder,
        id: message.id.string)
    }
  }

  struct Room {
    var participants: [MemberID] = []
    var title: String?
    var created: Int64
    var number: Int
    var messages: [Stored] = []
    var nextLocalOrder: Int64 = 0
    var mark: NaivePlace?

    var sorted: [Stored] { messages.sorted { NaivePlace.precedes($0.place, $1.place) } }
    var acknowledged: [Stored] { sorted.filter { $0.message.serverTimestamp != nil } }
    var activity: Int64? {
      let newest = acknowledged.last?.message.serverTimestamp?.microseconds
      let pending = sorted.last { $0.message.serverTimestamp == nil }?.place.localTime
      return [newest, pending].compactMap { $0 }.max()
    }
  }

  var rooms: [ConversationID: Room] = [:]
  var localMember: MemberID?
  var clock: Int64

  mutating func insert(_ message: Message, _ arrival: Arrival) -> InsertOutcome {
    touch(message.conversation)
    if let index = index(message.id, message.conversation) {
      let stored = rooms[message.conversation]?.messages[index]
      guard stored?.message.serverTimestamp == nil, let time = message.serverTimestamp else {
        return .duplicate
      }
      _ = acknowledge(
        message.id, message.conversation, time, message.sequence, status: message.status)
      return .acknowledged
    }
    var stored = Stored(message: message, isUnseen: arrival == .live)
    if message.serverTimestamp == nil {
      if message.localTime == nil { stored.message.localTime = Timestamp(microseconds: clock) }
      stored.localOrder = rooms[message.conversation]?.nextLocalOrder ?? 0
      rooms[message.conversation]?.nextLocalOrder += 1
    }
    rooms[message.conversation]?.messages.append(stored)
    return .inserted
  }

  mutating func acknowledge(
    _ id: MessageID, _ room: ConversationID, _ time: Timestamp, _ sequence: Int64?,
    status: MessageStatus = .sent
  ) -> Bool {
    guard let index = index(id, room), var stored = rooms[room]?.messages[index] else {
      return false
    }
    stored.message.status = max(stored.message.status, status, .sent)
    if let old = stored.message.serverTimestamp {
      var given = stored
      given.message.serverTimestamp = time
      given.message.sequence = sequence
      let isGivenSmaller = NaivePlace.precedes(given.place, stored.place)
      let other = isGivenSmaller ? stored.message.sequence : sequence
      stored.message.serverTimestamp = isGivenSmaller ? time : old
      if isGivenSmaller { stored.message.sequence = sequence }
      if stored.message.sequence == nil { stored.message.sequence = other }
    } else {
      stored.message.serverTimestamp = time
      if let sequence { stored.message.sequence = sequence }
      stored.localOrder = 0
    }
    rooms[room]?.messages[index] = stored
    return true
  }

  mutating func setStatus(_ status: MessageStatus, _ id: MessageID, _ room: ConversationID) -> Bool
  {
    guard let index = index(id, room) else { return false }
    rooms[room]?.messages[index].message.status = status
    return true
  }

  mutating func delete(_ id: MessageID, _ room: ConversationID) -> Bool {
    guard let index = index(id, room) else { return false }
    rooms[room]?.messages.remove(at: index)
    return true
  }

  mutating func put(_ id: ConversationID, _ participants: [MemberID], _ title: String?) {
    touch(id)
    var seen: Set<MemberID> = []
    rooms[id]?.participants = participants.filter { seen.insert($0).inserted }
    rooms[id]?.title = title
  }

  mutating func markRead(_ id: ConversationID, upTo limit: NaivePlace?) -> Bool {
    guard var room = rooms[id] else { return false }
    func isBehind(_ a: NaivePlace, _ b: NaivePlace) -> Bool { NaivePlace.precedes(b, a) }
    let end = limit?.serverTime == nil ? nil : limit
    if let end, let mark = room.mark, isBehind(mark, end) { return false }
    let newest = room.acknowledged.last { stored in end.map { !isBehind(stored.place, $0) } ?? true
    }
    var target = room.mark
    if let newest, target.map({ isBehind(newest.place, $0) }) ?? true { target = newest.place }
    guard let target else { return false }
    let unread = unreadCount(id)
    let isMoved = room.mark.map { isBehind(target, $0) } ?? true
    room.mark = target
    for index in room.messages.indices where !isBehind(room.messages[index].place, target) {
      room.messages[index].isUnseen = false
    }
    rooms[id] = room
    return isMoved || unreadCount(id) != unread
  }

  func unreadCount(_ id: ConversationID) -> Int {
    guard let localMember else { return 0 }
    return rooms[id]?.messages.count { $0.isUnseen && $0.message.sender != localMember } ?? 0
  }

  /// The list of conversations, newest activity first.
  var list: [ConversationID] {
    rooms.sorted { a, b in
      let times = (a.value.activity ?? a.value.created, b.value.activity ?? b.value.created)
      return times.0 != times.1 ? times.0 > times.1 : a.value.number > b.value.number
    }.map(\.key)
  }

  mutating func touch(_ id: ConversationID) {
    if rooms[id] == nil { rooms[id] = Room(created: clock, number: rooms.count) }
  }

  func index(_ id: MessageID, _ room: ConversationID) -> Int? {
    rooms[room]?.messages.firstIndex { $0.message.id == id }
  }
}
