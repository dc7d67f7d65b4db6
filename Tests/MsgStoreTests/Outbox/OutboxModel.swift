import MsgStore

/// The outbox as its specification says it, in plain arrays: what waits, in the order in which it was
/// entered, and what of it may be handed out.
struct OutboxModel {
  enum Kind: Hashable {
    case upload(MessageID, String)
    case send(MessageID)
    case edit(MessageID, Timestamp)
    case retract(MessageID)
    case react(MessageID, String, isRemoved: Bool)
    case read, create, delete, title
    case client(String)
    case field(Field)

    var message: MessageID? {
      switch self {
      case .upload(let id, _), .send(let id), .edit(let id, _), .retract(let id),
        .react(let id, _, _), .field(.message(let id, _)):
        id
      default: nil
      }
    }
  }

  enum State: Hashable {
    case queued, held, failed
    case waiting(Int64)
    case running(owner: String, expiry: Int64, lease: Int)
  }

  struct Entry: Hashable {
    let id: UInt64
    /// The conversation, by the name that it was made with.
    let room: Int
    let kind: Kind
    let message: MessageID?
    var state = State.queued
    /// nil until it was seen.
    var token: OutboxToken?
    /// The one it had before what it tells has changed.
    var formerToken: OutboxToken?
    var attemptCount = 0
    var failureCount = 0
    var isRefused = false
    /// An upload of a file that is too large until it is prepared.
    var isUnprepared = false
    /// What the last attempt has told, where that changes.
    var told: [Int64] = []
    /// What an own field is set to.
    var value: FieldValue?

    init(id: UInt64, room: Int, kind: Kind) {
      self.id = id
      self.room = room
      self.kind = kind
      message = kind.message
    }

    mutating func changeToken() {
      formerToken = token ?? formerToken
      token = nil
    }

    var isRunning: Bool { if case .running = state { true } else { false } }
    var mayHaveLeft: Bool { attemptCount > 0 && !isRefused }
    var isUpload: Bool { if case .upload = kind { true } else { false } }
    var isSend: Bool { if case .send = kind { true } else { false } }
    var isRetraction: Bool { if case .retract = kind { true } else { false } }
    var dueTime: Int64 {
      switch state {
      case .queued, .held, .failed: 0
      case .waiting(let time): time
      case .running(_, let expiry, _): expiry
      }
    }
  }

  struct Message {
    let room: Int
    var text: String
    var isHeld = false
    var isKnown = false
    /// It is to be taken back.
    var isHidden = false
    var isErased = false
    var serverTime: Int64?
    var pendingEdits: [Timestamp: String] = [:]
    var reactions: Set<String> = []
  }

  struct Room {
    var name: ConversationID
    var isVisible = true
    var title: Int64 = 0
    /// Times of the messages that the server has placed, and whose they are.
    var incoming: [Int64] = []
    var marked = Int64.min
    var confirmed = Int64.min
    /// The entry that tells of the newest title.
    var newestTitle: UInt64 = 0
  }

  static let day: Int64 = 86_400_000_000
  /// The longest pause before a retry that the server did not ask for.
  static let maximumPause: Int64 = 300_000_000

  var entries: [Entry] = []
  var messages: [MessageID: Message] = [:]
  var fields: [Field: FieldValue] = [:]
  var rooms: [Room] = []
  var holdsNewEntries = false
  var nextID: UInt64 = 1
  var nextLease = 1
  var maximumAttemptCount: Int?
  /// The last step that is in it.
  var step = 0

  // MARK: Entering

  @discardableResult
  mutating func enter(_ kind: Kind, _ room: Int, isHeld: Bool? = nil) -> UInt64 {
    var entry = Entry(id: nextID, room: room, kind: kind)
    if isHeld ?? (holdsNewEntries && kind != .read) { entry.state = .held }
    entries.append(entry)
    nextID += 1
    return entry.id
  }

  func index(_ room: Int, _ kind: Kind) -> Int? {
    entries.firstIndex { $0.room == room && $0.kind == kind }
  }

  func index(_ id: UInt64) -> Int? { entries.firstIndex { $0.id == id } }

  mutating func removeEntries(of id: MessageID, where isWanted: (Entry) -> Bool = { _ in true }) {
    entries.removeAll { $0.message == id && isWanted($0) }
  }

  /// Whether the conversation was made here and the server cannot have it.
  func isUnknown(_ room: Int) -> Bool {
    guard let index = index(room, .create) else { return false }
    return !entries[index].isRunning && !entries[index].mayHaveLeft
  }

  /// - Parameter files: Of each whether it is too large as it is.
  mutating func send(_ id: MessageID, _ text: String, files: [Bool], in room: Int) {
    messages[id] = Message(room: room, text: text, isHeld: holdsNewEntries)
    rooms[room].isVisible = true
    for (file, isTooLarge) in files.enumerated() {
      enter(.upload(id, "f\(file)"), room)
      entries[entries.count - 1].isUnprepared = isTooLarge
    }
    enter(.send(id), room)
  }

  /// The uploads that wait until their files are prepared.
  var unprepared: [(index: Int, message: MessageID, file: String)] {
    entries.indices.compactMap { index in
      guard entries[index].isUnprepared, case .upload(let id, let file) = entries[index].kind
      else { return nil }
      return (index, id, file)
    }
  }

  mutating func retract(_ id: MessageID) {
    guard let message = messages[id] else { return }
    let send = entries.firstIndex { $0.kind == .send(id) }
    guard send.map({ entries[$0].mayHaveLeft }) ?? message.isKnown else {
      messages[id] = nil
      return removeEntries(of: id)
    }
    messages[id]?.isHidden = true
    if let send, entries[send].state == .failed || entries[send].state == .held {
      entries[send].state = holdsNewEntries ? .held : .queued
      entries[send].failureCount = 0
    }
    enter(.retract(id), message.room)
  }

  mutating func react(_ emoji: String, to id: MessageID) {
    guard let message = messages[id] else { return }
    let isRemoved = message.reactions.contains(emoji)
    if isRemoved {
      messages[id]?.reactions.remove(emoji)
    } else {
      messages[id]?.reactions.insert(emoji)
    }
    let opposite = entries.firstIndex {
      $0.kind == .react(id, emoji, isRemoved: !isRemoved) && !$0.isRunning && !$0.mayHaveLeft
    }
    if let opposite {
      entries.remove(at: opposite)
    } else {
      enter(.react(id, emoji, isRemoved: isRemoved), message.room)
    }
  }

  mutating func setTitle(_ room: Int, to title: Int64) {
    rooms[room].title = title
    if isUnknown(room) { return }
    if let index = index(rooms[room].newestTitle), !entries[index].isRunning {
      let isOther =
        entries[index].state == .failed || holdsNewEntries && entries[index].state != .held
      guard isOther else {
        if !entries[index].told.isEmpty { entries[index].changeToken() }
        return
      }
      entries.remove(at: index)
    }
    rooms[room].newestTitle = enter(.title, room)
  }

  // MARK: Receipts

  mutating func markRead(_ room: Int) {
    let own = messages.values.compactMap { $0.room == room ? $0.serverTime : nil }
    guard let newest = (rooms[room].incoming + own).max(), newest > rooms[room].marked else {
      return
    }
    let isPending = rooms[room].marked > rooms[room].confirmed
    let isNew = rooms[room].incoming.contains { $0 > rooms[room].marked }
    rooms[room].marked = newest
    if !isNew && !isPending { rooms[room].confirmed = newest }
    updateReceipt(room)
  }

  /// The entry of a receipt is there as long as there is something to tell.
  mutating func updateReceipt(_ room: Int) {
    let index = index(room, .read)
    if rooms[room].marked <= rooms[room].confirmed {
      if let index { entries.remove(at: index) }
    } else if let index {
      if entries[index].state == .failed, entries[index].told != content(entries[index]) {
        beginAnew(index)
      }
    } else {
      enter(.read, room)
    }
  }

  mutating func beginAnew(_ index: Int) {
    entries[index].state = .queued
    entries[index].changeToken()
    entries[index].attemptCount = 0
    entries[index].failureCount = 0
    entries[index].isRefused = false
    entries[index].told = []
  }

  func content(_ entry: Entry) -> [Int64] {
    switch entry.kind {
    case .read: [rooms[entry.room].marked]
    case .title: [rooms[entry.room].title]
    default: []
    }
  }

  // MARK: Handing out

  /// Whether it waits for something that somebody has to decide about.
  func isBlocked(_ entry: Entry) -> Bool {
    guard !entry.isRunning, let id = entry.message else { return false }
    return isBlocked(entry, by: entries.filter { $0.message == id })
  }

  /// - Parameter others: Those about the same message.
  private func isBlocked(_ entry: Entry, by others: [Entry]) -> Bool {
    func isAside(_ other: Entry) -> Bool {
      other.state == .held || other.state == .failed || isBlocked(other, by: others)
    }
    if entry.isRunning { return false }
    switch entry.kind {
    case .upload: return entry.isUnprepared
    case .send: return others.contains { $0.isUpload && isAside($0) }
    case .retract: return others.contains { $0.isSend && isAside($0) }
    default: return others.contains { $0.isSend && isAside($0) || $0.isRetraction }
    }
  }

  func isAside(_ entry: Entry) -> Bool {
    entry.state == .held || entry.state == .failed || isBlocked(entry)
  }

  /// What people see of each entry: also that a conversation has to be made first.
  var areShownBlocked: [Bool] {
    let ofMessages = Dictionary(grouping: entries, by: \.message)
    let creations = Dictionary(
      entries.filter { $0.kind == .create }.map { ($0.room, $0) },
      uniquingKeysWith: { first, _ in first })
    return entries.map { entry in
      if let id = entry.message, isBlocked(entry, by: ofMessages[id] ?? []) { return true }
      guard !entry.isUpload, let creation = creations[entry.room] else { return false }
      return creation.id != entry.id && isAside(creation)
    }
  }

  /// The place of what is handed out now: of what is queued, and of the sixteen entries whose time has
  /// come first, the oldest.
  private func candidate(at now: Int64) -> Int? {
    func isEarlier(_ a: Int, _ b: Int) -> Bool {
      (entries[a].dueTime, entries[a].id) < (entries[b].dueTime, entries[b].id)
    }
    let found = found()
    let queued = found.filter { entries[$0].dueTime == 0 }
    let waited = found.filter { entries[$0].dueTime != 0 && entries[$0].dueTime <= now }
    let due = queued + waited.sorted(by: isEarlier).prefix(64)
    if let oldest = due.min(by: { entries[$0].id < entries[$1].id }) { return oldest }
    // No lease is longer than a day, and no pause than five minutes: the clock was set back.
    return found.filter { index in
      let isPause = if case .waiting = entries[index].state { true } else { false }
      return entries[index].dueTime > now + (isPause ? Self.maximumPause : Self.day)
    }.min(by: isEarlier)
  }

  /// The places of what has its turn, whether or not its time has come.
  private func found() -> [Int] {
    var found: [Int] = []
    for room in [-1] + Array(rooms.indices) {
      let lane = entries.indices.filter { entries[$0].room == room && !entries[$0].isUpload }
      let creation = lane.first { entries[$0].kind == .create }
      if let creation {
        if !isAside(entries[creation]) { found.append(creation) }
      } else if let head = lane.first(where: { !isAside(entries[$0]) }) {
        let needsUpload =
          entries[head].isSend && !entries[head].isRunning
          && entries.contains { $0.isUpload && $0.message == entries[head].message }
        if !needsUpload { found.append(head) }
      }
    }
    found += entries.indices.filter { entries[$0].isUpload && !isAside(entries[$0]) }
    return found
  }

  /// Hands out what is due, oldest first.
  ///
  /// - Parameter maximumEndedCount: What one commit may end; nil: as much as there is.
  mutating func next(
    for owner: String, at now: Int64, lease: Int64, maximumEndedCount: Int?
  ) -> Entry? {
    var endedCount = 0
    while let candidate = candidate(at: now) {
      if endedCount == maximumEndedCount {
        // The oldest of what is to be told; what ends stays where it is.
        let told = found().filter { isToBeTold(entries[$0]) && entries[$0].dueTime <= now }
        return told.min { entries[$0].id < entries[$1].id }
          .map { handOut($0, to: owner, at: now, lease: lease) }
      }
      guard isToBeTold(entries[candidate]) else {
        end(candidate)
        endedCount += 1
        continue
      }
      return handOut(candidate, to: owner, at: now, lease: lease)
    }
    return nil
  }

  /// Whether a newer one tells all that this one would.
  private func isSuperseded(_ entry: Entry) -> Bool {
    guard entry.kind == .title else { return false }
    let newest = rooms[entry.room].newestTitle
    return newest > entry.id && index(newest) != nil
  }

  private func failureCount(_ entry: Entry) -> Int {
    entry.failureCount + (entry.isRunning ? 1 : 0)
  }

  private func isUsedUp(_ entry: Entry) -> Bool {
    maximumAttemptCount.map { failureCount(entry) >= $0 } ?? false
  }

  private func waitsForRetraction(_ entry: Entry) -> Bool {
    guard !entry.isRetraction, !entry.isSend, let id = entry.message else { return false }
    return messages[id]?.isHidden ?? false
  }

  private func isToBeTold(_ entry: Entry) -> Bool {
    var entry = entry
    return !isSuperseded(entry) && !isUsedUp(entry) && !waitsForRetraction(entry)
      && takeValue(&entry)
  }

  /// Ends the turn of an entry that is not handed out.
  private mutating func end(_ index: Int) {
    let entry = entries[index]
    if isSuperseded(entry) {
      entries.remove(at: index)
    } else if isUsedUp(entry) {
      entries[index].state = .failed
      entries[index].failureCount += 1
      if entry.kind == .read { updateReceipt(entry.room) }
    } else if waitsForRetraction(entry) {
      entries[index].state = .queued
    } else {
      entries.remove(at: index)
    }
  }

  private mutating func handOut(
    _ index: Int, to owner: String, at now: Int64, lease: Int64
  ) -> Entry {
    var entry = entries[index]
    _ = takeValue(&entry)
    let content = content(entry)
    if content != entry.told, entry.attemptCount > 0 { entry.changeToken() }
    entry.told = content
    entry.failureCount = failureCount(entry)
    entry.attemptCount += 1
    entry.isRefused = false
    entry.state = .running(owner: owner, expiry: now + lease, lease: nextLease)
    nextLease += 1
    if entry.isSend, let id = entry.message { messages[id]?.isHeld = false }
    entries[index] = entry
    return entry
  }
}
