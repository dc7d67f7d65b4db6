import MsgStore

/// What expires, mutes, and what the client adds of its own: kept as it was told, and found out
/// anew from all of it for each question.
extension NaiveStore {
  /// A statement about an own field; one about the kind has no name.
  struct FieldWord: Hashable {
    var name: String
    var value: [UInt8]?
    var time: Int64?
    var isLocal = false

    var told: OwnField {
      let at = time.map { Timestamp(microseconds: $0) }
      if name.isEmpty { return .kind(value.map { String(decoding: $0, as: UTF8.self) }, at: at) }
      return OwnField(name, value, at: at, isLocal: isLocal)
    }

    /// The later time counts, then any value, the longer one, the greater bytes, the shared one.
    static func precedes(_ a: FieldWord, _ b: FieldWord) -> Bool {
      if a.time != b.time { return a.time ?? .min < b.time ?? .min }
      let (length, otherLength) = (a.value?.count ?? -1, b.value?.count ?? -1)
      if length != otherLength { return length < otherLength }
      if let mine = a.value, let theirs = b.value, mine != theirs {
        return mine.lexicographicallyPrecedes(theirs)
      }
      return a.isLocal && !b.isLocal
    }
  }

  /// A statement about a tag of a message.
  struct TagWord: Hashable {
    var tag: MessageTag
    var time: Int64
    var isRemoved: Bool
  }

  /// A statement about the mute of a conversation.
  struct MuteWord: Hashable {
    var time: Int64
    var isMuted: Bool
    var end: Int64?

    /// The later time counts, then "yes", then the later end, none being the latest.
    static func precedes(_ a: MuteWord, _ b: MuteWord) -> Bool {
      if a.time != b.time { return a.time < b.time }
      if a.isMuted != b.isMuted { return b.isMuted }
      return a.isMuted && (a.end ?? .max) < (b.end ?? .max)
    }
  }

  // MARK: The clock and the server's time

  /// A conversation with the messages that have not expired.
  func shown(_ id: ConversationID) -> Room? {
    guard var room = rooms[id] else { return nil }
    let ends = room.ends
    room.messages.removeAll { (ends[$0.message.id] ?? .max) <= clock }
    return room
  }

  mutating func hear(_ time: Timestamp?) {
    if let time { told = max(told ?? .min, time.microseconds) }
  }

  /// Ends a transaction.
  ///
  /// Its server times count for no more than the clock, and only where something is to end by then.
  mutating func commit() {
    defer { told = nil }
    guard let told, let first = ends.min() else { return }
    let time = min(told, clock)
    if first <= time { heard = max(heard ?? .min, time) }
  }

  /// The times at which a message that is here expires, or a mute ends.
  private var ends: [Int64] {
    rooms.values.flatMap { room in
      room.messages.compactMap { room.ends[$0.message.id] }
    } + rooms.keys.compactMap { muteEnd($0) }
  }

  /// The next time at which something that is shown now expires or ends.
  var nextExpiry: Timestamp? {
    ends.filter { $0 > clock }.min().map { Timestamp(microseconds: $0) }
  }

  /// Erases a message, or ends a mute, of which a step was seen to have done so; returns false if
  /// no step may.
  mutating func mayErase(_ id: MessageID, _ room: ConversationID) -> Bool {
    guard let end = rooms[room]?.ends[id], end <= limit else { return false }
    return delete(id, room)
  }

  mutating func mayEndMute(_ id: ConversationID) -> Bool {
    guard let mute = mute(id), let end = mute.end, end <= limit else { return false }
    rooms[id]?.endedMutes.insert(mute)
    return true
  }

  /// Does all that steps are to do.
  mutating func finishSteps() {
    for (id, room) in rooms {
      for stored in room.messages { _ = mayErase(stored.message.id, id) }
      _ = mayEndMute(id)
    }
  }

  /// The time up to which everything ends for good.
  private var limit: Int64 { min(heard ?? .min, clock) }

  // MARK: Facts

  /// Adds what a copy of a message says; returns true if anything is new.
  @discardableResult
  mutating func addClientData(of copy: Message) -> Bool {
    let (id, room) = (copy.id, copy.conversation)
    let isEarlier = copy.expiresAt.map { receiveExpiry($0.microseconds, of: id, room) } ?? false
    let words = copy.ownFields.map { field in
      FieldWord(
        name: field.name, value: field.value, time: field.time?.microseconds,
        isLocal: field.isLocal)
    }
    return receive(words, of: .message(id, in: room)) || isEarlier
  }

  mutating func receiveExpiry(
    _ end: Int64, of id: MessageID, _ room: ConversationID
  ) -> Bool {
    touch(room)
    if rooms[room]?.deleted.contains(id) == true { return false }
    let known = rooms[room]?.ends[id]
    rooms[room]?.ends[id] = min(known ?? .max, end)
    return known.map { end < $0 } ?? true
  }

  mutating func receive(_ words: [FieldWord], of owner: FieldOwner) -> Bool {
    switch owner {
    case .message(let id, let room):
      touch(room)
      if rooms[room]?.deleted.contains(id) == true { return false }
    case .conversation(let id): touch(id)
    case .member: break
    }
    let before = counting(owner)
    fields[owner, default: []] += words
    return counting(owner) != before
  }

  mutating func receive(_ word: TagWord, of id: MessageID, _ room: ConversationID) -> Bool {
    touch(room)
    if rooms[room]?.deleted.contains(id) == true { return false }
    let before = counting(word.tag, of: id, room)
    rooms[room]?.tags[id, default: []].append(word)
    return counting(word.tag, of: id, room) != before
  }

  mutating func receive(_ word: MuteWord, _ id: ConversationID) -> Bool {
    touch(id)
    let before = mute(id)
    rooms[id]?.mutes.append(word)
    return mute(id) != before
  }

  /// A mute, or its end, of the local member's.
  mutating func setMuted(_ isMuted: Bool, _ id: ConversationID, until end: Int64?) -> Bool {
    let word = mute(id)
    let isOver = word.map { rooms[id]?.endedMutes.contains($0) == true } ?? false
    let isSame = isMuted == word?.isMuted ?? false && (!isMuted || word?.end == end && !isOver)
    if isSame { return false }
    let time = provisionalTime(id)
    rooms[id]?.mutes.append(MuteWord(time: time, isMuted: isMuted, end: isMuted ? end : nil))
    return true
  }

  /// The time of what is done here: later than all that is known of the conversation.
  func provisionalTime(_ id: ConversationID) -> Int64 {
    let newest = rooms[id]?.acknowledged.last?.message.serverTimestamp?.microseconds
    return ([0, newest, rooms[id]?.titledAt, mute(id)?.time].compactMap { $0 }.max() ?? 0) + 1
  }

  mutating func forgetClientData(of id: MessageID, _ room: ConversationID) {
    fields[.message(id, in: room)] = nil
    rooms[room]?.ends[id] = nil
    rooms[room]?.tags[id] = nil
  }

  // MARK: What they come to

  /// The statement that counts of each field and of the kind, by name.
  ///
  /// The sixteen least names count.
  func counting(_ owner: FieldOwner) -> [FieldWord] {
    let words = fields[owner] ?? []
    let names = Set(words.map(\.name)).subtracting([""]).sorted().prefix(16)
    return ([""] + names).compactMap { name in
      words.filter { $0.name == name }.max(by: FieldWord.precedes)
    }
  }

  /// The statement that counts of a tag: the latest, and of equal times the removal.
  private func counting(
    _ tag: MessageTag, of id: MessageID, _ room: ConversationID
  ) -> TagWord? {
    rooms[room]?.tags[id]?.filter { $0.tag == tag }.max { a, b in
      a.time != b.time ? a.time < b.time : b.isRemoved
    }
  }

  /// The messages with a tag, in their order.
  func tagged(_ tag: MessageTag, _ room: ConversationID) -> [String] {
    let shown = self.shown(room)?.sorted.map(\.message.id) ?? []
    return shown.filter { counting(tag, of: $0, room)?.isRemoved == false }.map(\.string)
  }

  /// The answers to a message, in their order.
  func replies(to id: MessageID, _ room: ConversationID) -> [String] {
    let shown = self.shown(room)?.sorted ?? []
    return shown.filter { $0.message.replyTo == id }.map(\.message.id.string)
  }

  private func mute(_ id: ConversationID) -> MuteWord? {
    rooms[id]?.mutes.max(by: MuteWord.precedes)
  }

  /// The end of a mute that is not over for good.
  func muteEnd(_ id: ConversationID) -> Int64? {
    guard let mute = mute(id), rooms[id]?.endedMutes.contains(mute) == false else { return nil }
    return mute.end
  }

  func isMuted(_ id: ConversationID) -> Bool {
    guard let mute = mute(id), mute.isMuted else { return false }
    guard mute.end != nil else { return true }
    return muteEnd(id).map { $0 > clock } ?? false
  }

  /// The unread messages of conversations that are not muted, and of those that are.
  var unread: (messages: Int, mutedMessages: Int) {
    rooms.keys.reduce(into: (0, 0)) { sums, id in
      if isMuted(id) { sums.1 += unreadCount(id) } else { sums.0 += unreadCount(id) }
    }
  }
}
