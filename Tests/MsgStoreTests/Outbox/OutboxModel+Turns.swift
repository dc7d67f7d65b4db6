import MsgStore

/// What has its turn, what is blocked, and what is handed out.
extension OutboxModel {
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
