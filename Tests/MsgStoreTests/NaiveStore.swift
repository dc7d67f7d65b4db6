import MsgStore

/// The store as simply as it can be said: arrays, sorted anew for each question.
///
/// What was told of a message is kept as it was told, and what the message is follows from all of it.
struct NaiveStore {
  /// A word of the server's about a message's place.
  struct Word {
    var revision: Int64 = 0
    var time: Int64?
    var sequence: Int64?
  }

  struct Stored {
    var message: Message
    var localOrder: Int64 = 0
    /// Whether it has been marked read since it came.
    var isCovered = false
    /// Whether it has come only as history.
    var isHistory: Bool
    /// Whether its text was composed here and the server's copy has not come.
    var isComposed: Bool
    var words: [Word] = []

    var isUnseen: Bool { !isHistory && !isCovered }

    var place: NaivePlace {
      NaivePlace(
        serverTime: message.serverTimestamp?.microseconds, sequence: message.sequence,
        localTime: message.localTime?.microseconds ?? 0, localOrder: localOrder,
        id: message.id.string)
    }

    /// The place that follows from all words: of the latest revision the smallest.
    mutating func settle() {
      let revision = words.map(\.revision).max()
      let latest = words.filter { $0.revision == revision }
      let times = latest.compactMap(\.time)
      message.serverTimestamp = times.min().map(Timestamp.init(microseconds:))
      // A sequence without a time counts only while there is none with one.
      message.sequence =
        latest.filter { $0.sequence != nil }.min {
          ($0.time ?? .max, $0.sequence ?? 0) < ($1.time ?? .max, $1.sequence ?? 0)
        }?.sequence
      if message.serverTimestamp != nil { message.status = max(message.status, .sent) }
    }
  }

  struct Room {
    var participants: [MemberID] = []
    var title: String?
    /// The time of the title, which a change made here gets from what is known.
    var titledAt: Int64?
    var created: Int64
    var number: Int
    var messages: [Stored] = []
    var deleted: Set<MessageID> = []
    /// What is known of messages that are not here.
    var waiting: [MessageID: (status: MessageStatus, words: [Word])] = [:]
    var nextLocalOrder: Int64 = 0
    var mark: NaivePlace?
    /// The times at which messages expire, also of those that are not here: the earliest told.
    var ends: [MessageID: Int64] = [:]
    var tags: [MessageID: [TagWord]] = [:]
    var mutes: [MuteWord] = []
    /// The mutes that are over for good.
    var endedMutes: Set<MuteWord> = []

    var sorted: [Stored] { messages.sorted { NaivePlace.precedes($0.place, $1.place) } }
    var acknowledged: [Stored] { sorted.filter { $0.message.serverTimestamp != nil } }
    var activity: Int64? {
      let newest = acknowledged.last?.message.serverTimestamp?.microseconds
      let pending = sorted.last { $0.message.serverTimestamp == nil }?.place.localTime
      return [newest, pending].compactMap { $0 }.max()
    }
    /// The last message, but for those that have failed before something newer came.
    var shown: Stored? {
      let newest = acknowledged.last?.message.serverTimestamp?.microseconds ?? .min
      return sorted.last {
        $0.message.serverTimestamp != nil || $0.message.status != .failed
          || $0.place.localTime >= newest
      }
    }
  }

  var rooms: [ConversationID: Room] = [:]
  var localMember: MemberID?
  var clock: Int64
  /// All that was told of the client's own fields.
  var fields: [FieldOwner: [FieldWord]] = [:]
  /// The latest server time of the present transaction.
  var told: Int64?
  /// The latest server time that lets messages be erased.
  var heard: Int64?

  init(localMember: MemberID?, clock: Int64) {
    self.localMember = localMember
    self.clock = clock
  }

  mutating func insert(_ message: Message, _ arrival: Arrival) -> InsertOutcome {
    let (facts, room) = (message, message.conversation)
    var message = message
    (message.expiresAt, message.ownFields) = (nil, [])
    touch(room)
    hear(message.serverTimestamp)
    if rooms[room]?.deleted.contains(message.id) == true { return .deleted }
    let word = Word(
      time: message.serverTimestamp?.microseconds, sequence: message.sequence)
    let isReceived = message.serverTimestamp != nil || message.status.isServerKnowledge
    if let index = index(message.id, room), let old = rooms[room]?.messages[index] {
      guard isReceived else { return .duplicate }
      let hasNews = addClientData(of: facts)
      let outcome = merge(message, word, arrival, into: old, at: index)
      return outcome == .duplicate && hasNews ? .merged : outcome
    }
    addClientData(of: facts)
    var stored = Stored(
      message: message, isHistory: arrival == .history, isComposed: !isReceived, words: [word])
    if let waiting = rooms[room]?.waiting.removeValue(forKey: message.id) {
      stored.words += waiting.words
      if waiting.status.isServerKnowledge {
        stored.message.status = max(stored.message.status, waiting.status)
      }
    }
    stored.settle()
    if stored.message.serverTimestamp == nil {
      if message.localTime == nil { stored.message.localTime = Timestamp(microseconds: clock) }
      stored.localOrder = rooms[room]?.nextLocalOrder ?? 0
      rooms[room]?.nextLocalOrder += 1
    }
    rooms[room]?.messages.append(stored)
    return .inserted
  }

  /// Another copy of a message, told by the server.
  private mutating func merge(
    _ copy: Message, _ word: Word, _ arrival: Arrival, into old: Stored, at index: Int
  ) -> InsertOutcome {
    var new = old
    new.message.sender = max(old.message.sender, copy.sender)
    new.message.replyTo = [old.message.replyTo, copy.replyTo].compactMap { $0 }.max()
    new.message.localTime = [old.message.localTime, copy.localTime].compactMap { $0 }.min()
    let (mine, theirs) = (Array(old.message.text.utf8), Array(copy.text.utf8))
    if old.isComposed || mine.lexicographicallyPrecedes(theirs) { new.message.text = copy.text }
    new.isComposed = false
    if copy.status.isServerKnowledge {
      new.message.status = max(old.message.status, copy.status)
    }
    new.words.append(word)
    new.settle()
    if arrival == .live { new.isHistory = false }
    rooms[copy.conversation]?.messages[index] = new
    if old.message.serverTimestamp == nil && new.message.serverTimestamp != nil {
      return .acknowledged
    }
    let isSame =
      new.message == old.message && new.isHistory == old.isHistory
      && new.isComposed == old.isComposed && placeFacts(new) == placeFacts(old)
    return isSame ? .duplicate : .merged
  }

  /// What the words come to, beside the place.
  private func placeFacts(_ stored: Stored) -> Int64? {
    let revision = stored.words.map(\.revision).max()
    let latest = stored.words.filter { $0.revision == revision && $0.sequence != nil }
    let time = latest.map { $0.time ?? .max }.min()
    return time == stored.message.serverTimestamp?.microseconds ? nil : time
  }

  mutating func acknowledge(
    _ id: MessageID, _ room: ConversationID, _ time: Timestamp, _ sequence: Int64?,
    revision: Int64
  ) -> Bool {
    touch(room)
    hear(time)
    let word = Word(revision: revision, time: time.microseconds, sequence: sequence)
    guard let index = index(id, room) else {
      wait(id, room, .sent, [word])
      return false
    }
    rooms[room]?.messages[index].words.append(word)
    rooms[room]?.messages[index].settle()
    return true
  }

  /// A status of the server's rises, and waits for its message; a local one replaces a local one.
  mutating func setStatus(_ status: MessageStatus, _ id: MessageID, _ room: ConversationID) -> Bool
  {
    if status.isServerKnowledge { touch(room) }
    guard let index = index(id, room), let old = rooms[room]?.messages[index].message.status else {
      return status.isServerKnowledge && wait(id, room, status, [])
    }
    guard status.isServerKnowledge ? old < status : !old.isServerKnowledge && old != status else {
      return false
    }
    rooms[room]?.messages[index].message.status = status
    return true
  }

  /// Keeps what is known of a message that is not here, and returns whether that is news.
  @discardableResult
  private mutating func wait(
    _ id: MessageID, _ room: ConversationID, _ status: MessageStatus, _ words: [Word]
  ) -> Bool {
    if rooms[room]?.deleted.contains(id) != false { return false }
    let old = rooms[room]?.waiting[id]
    rooms[room]?.waiting[id] = (
      max(old?.status ?? .pending, status), (old?.words ?? []) + words
    )
    return old.map { $0.status < status } ?? true
  }

  mutating func delete(_ id: MessageID, _ room: ConversationID) -> Bool {
    guard let index = index(id, room) else { return false }
    rooms[room]?.messages.remove(at: index)
    rooms[room]?.deleted.insert(id)
    forgetClientData(of: id, room)
    return true
  }

  mutating func put(_ id: ConversationID, _ participants: [MemberID], _ title: String?) {
    touch(id)
    let known = rooms[id]?.title
    let isSame = known.map { $0.utf8.elementsEqual((title ?? "").utf8) } ?? (title == nil)
    let now = provisionalTime(id)
    if !isSame { rooms[id]?.titledAt = now }
    var seen: Set<MemberID> = []
    rooms[id]?.participants = participants.filter { seen.insert($0).inserted }
    rooms[id]?.title = title
  }

  mutating func markRead(_ id: ConversationID, upTo limit: NaivePlace?) -> Bool {
    guard var room = rooms[id] else { return false }
    let end = limit?.serverTime == nil ? nil : limit
    if let end, let mark = room.mark, isBehind(mark, end) { return false }
    let newest = room.acknowledged.last { stored in end.map { !isBehind(stored.place, $0) } ?? true
    }
    var target = room.mark
    if let newest, target.map({ isBehind(newest.place, $0) }) ?? true { target = newest.place }
    guard let target else { return false }
    let isMoved = room.mark.map { isBehind(target, $0) } ?? true
    let (old, unread) = (room, unreadCount(id))
    room.mark = target
    for index in room.messages.indices where !isBehind(room.messages[index].place, target) {
      room.messages[index].isCovered = true
    }
    rooms[id] = room
    if isMoved || unreadCount(id) != unread { return true }
    // Nothing was unread, so nothing is changed; unless nobody knows whose messages count.
    if localMember != nil { rooms[id] = old }
    return false
  }

  func unreadCount(_ id: ConversationID) -> Int {
    guard let localMember else { return 0 }
    return shown(id)?.messages.count { $0.isUnseen && $0.message.sender != localMember } ?? 0
  }

  /// The list of conversations, newest activity first.
  var list: [ConversationID] {
    let shown = rooms.keys.compactMap { id in self.shown(id).map { (id: id, room: $0) } }
    return shown.sorted { a, b in
      let times = (a.room.activity ?? a.room.created, b.room.activity ?? b.room.created)
      return times.0 != times.1 ? times.0 > times.1 : a.room.number > b.room.number
    }.map(\.id)
  }

  private func isBehind(_ a: NaivePlace, _ b: NaivePlace) -> Bool { NaivePlace.precedes(b, a) }

  mutating func touch(_ id: ConversationID) {
    if rooms[id] == nil { rooms[id] = Room(created: clock, number: rooms.count) }
  }

  func index(_ id: MessageID, _ room: ConversationID) -> Int? {
    rooms[room]?.messages.firstIndex { $0.message.id == id }
  }
}
