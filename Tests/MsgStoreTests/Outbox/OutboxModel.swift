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
}
