import MsgStore

/// What those who have work say, and what people decide.
extension OutboxModel {
  /// The place of an entry while this hand-out of it is the newest one.
  private func held(_ item: Entry) -> Int? {
    guard let index = index(item.id), case .running(_, _, let lease) = entries[index].state,
      case .running(_, _, lease) = item.state
    else { return nil }
    return index
  }

  mutating func done(_ item: Entry, at time: Int64? = nil) {
    if item.kind == .read {
      let isHolder = held(item) != nil
      rooms[item.room].confirmed = max(rooms[item.room].confirmed, item.told[0])
      updateReceipt(item.room)
      if isHolder, let index = held(item) { beginAnew(index) }
      return
    }
    guard let index = index(item.id), entries[index].token == item.token else { return }
    if let time { confirm(item, entries[index], at: time) }
    entries.remove(at: index)
    switch item.kind {
    case .send(let id): isSent(id)
    case .edit(let id, let time): messages[id]?.pendingEdits[time] = nil
    case .retract(let id):
      messages[id]?.isErased = true
      removeEntries(of: id)
    default: break
    }
  }

  /// The server has a message.
  mutating func isSent(_ id: MessageID) {
    messages[id]?.isKnown = true
    removeEntries(of: id) { $0.isSend || $0.isUpload }
  }

  mutating func fail(_ item: Entry, _ kind: FailureKind, at now: Int64) {
    guard let index = held(item) else { return }
    entries[index].failureCount += 1
    entries[index].isRefused = [.permission, .notFound, .invalid].contains(kind)
    let isLast = maximumAttemptCount.map { entries[index].failureCount >= $0 } ?? false
    if entries[index].isRefused || isLast {
      entries[index].state = .failed
    } else {
      var wait: Int64 = 1_000_000
      for _ in 1..<entries[index].failureCount { wait = min(wait * 2, Self.maximumPause) }
      entries[index].state = .waiting(now + wait)
    }
    if item.kind == .read { updateReceipt(item.room) }
  }

  mutating func renew(_ item: Entry, until expiry: Int64) {
    guard let index = held(item), case .running(let owner, _, let lease) = entries[index].state
    else { return }
    entries[index].state = .running(owner: owner, expiry: expiry, lease: lease)
  }

  mutating func returnWork(_ item: Entry) {
    guard let index = held(item) else { return }
    entries[index].state = .queued
    entries[index].attemptCount -= 1
  }

  mutating func reclaimWork(of name: String) {
    for index in entries.indices {
      if case .running(name, _, _) = entries[index].state { entries[index].state = .queued }
    }
  }

  // MARK: People

  mutating func hold(_ index: Int) {
    guard entries[index].state != .held else { return }
    entries[index].state = .held
    guard case .send(let id) = entries[index].kind, messages[id]?.isHeld == false else { return }
    messages[id]?.isHeld = true
    for other in entries.indices where entries[other].message == id && entries[other].isUpload {
      switch entries[other].state {
      case .queued, .waiting: entries[other].state = .held
      default: break
      }
    }
  }

  mutating func release(_ index: Int) {
    guard entries[index].state == .held else { return }
    entries[index].state = .queued
    entries[index].failureCount = 0
    guard case .send(let id) = entries[index].kind, messages[id]?.isHeld == true else { return }
    messages[id]?.isHeld = false
    for other in entries.indices
    where entries[other].message == id && entries[other].isUpload && entries[other].state == .held {
      entries[other].state = .queued
    }
  }

  mutating func releaseAll(in room: Int?) {
    for index in entries.indices where room == nil || entries[index].room == room {
      release(index)
    }
  }

  mutating func retry(_ index: Int, includesFailed: Bool = true) {
    switch entries[index].state {
    case .waiting: break
    case .failed where includesFailed: break
    default: return
    }
    entries[index].state = .queued
    entries[index].failureCount = 0
  }

  /// With a message its uploads.
  mutating func retryWithUploads(_ index: Int) {
    if entries[index].isSend {
      for other in entries.indices
      where entries[other].isUpload && entries[other].message == entries[index].message {
        retry(other)
      }
    }
    retry(index)
  }

  mutating func retryAll(in room: Int?, includesFailed: Bool) {
    for index in entries.indices where room == nil || entries[index].room == room {
      retry(index, includesFailed: includesFailed)
    }
  }

  /// Returns false where the store has to refuse.
  mutating func remove(_ index: Int) -> Bool {
    let entry = entries[index]
    if entry.isRunning || entry.isUpload || entry.kind == .create { return false }
    if case .send(let id) = entry.kind, messages[id]?.isHidden == false {
      retract(id)
      return true
    }
    entries.remove(at: index)
    switch entry.kind {
    case .edit(let id, let time): messages[id]?.pendingEdits[time] = nil
    case .retract(let id): messages[id]?.isHidden = false
    case .react(let id, let emoji, let isRemoved):
      if isRemoved {
        messages[id]?.reactions.insert(emoji)
      } else {
        messages[id]?.reactions.remove(emoji)
      }
    case .read:
      rooms[entry.room].confirmed = max(rooms[entry.room].confirmed, rooms[entry.room].marked)
    case .title where rooms[entry.room].newestTitle == entry.id: rooms[entry.room].newestTitle = 0
    default: break
    }
    return true
  }

  // MARK: Conversations

  mutating func deleteConversation(_ room: Int) {
    guard rooms[room].isVisible else { return }
    let isUnknown = isUnknown(room)
    for index in entries.indices.reversed() where entries[index].room == room {
      switch entries[index].kind {
      case _ where isUnknown: entries.remove(at: index)
      case .create:
        if entries[index].isRunning { break }
        entries[index].state = holdsNewEntries ? .held : .queued
        entries[index].failureCount = 0
      case .retract, .title, .client, .field(.room): break
      default: entries.remove(at: index)
      }
    }
    for (id, message) in messages where message.room == room { messages[id] = nil }
    rooms[room].isVisible = false
    rooms[room].incoming = []
    (rooms[room].marked, rooms[room].confirmed) = (.min, .min)
    findNewestTitle(room)
    if !isUnknown { enter(.delete, room) }
  }

  /// The conversation has another number now.
  private mutating func findNewestTitle(_ room: Int) {
    rooms[room].newestTitle =
      entries.last { $0.room == room && $0.kind == .title }?.id ?? 0
  }

  /// Everything that the server has placed is deleted elsewhere.
  mutating func deleteElsewhere(_ room: Int) {
    let wasEmpty = rooms[room].incoming.isEmpty && !messages.values.contains { $0.room == room }
    for (id, message) in messages where message.room == room && message.serverTime != nil {
      messages[id] = nil
      removeEntries(of: id) { !$0.isRetraction }
    }
    rooms[room].incoming = []
    rooms[room].isVisible = messages.values.contains { $0.room == room }
    if !rooms[room].isVisible && !wasEmpty { findNewestTitle(room) }
  }

  mutating func deleteMessage(_ id: MessageID) {
    messages[id] = nil
    removeEntries(of: id) { !$0.isRetraction }
  }
}
