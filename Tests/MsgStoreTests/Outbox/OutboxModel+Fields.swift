import MsgStore

/// Own fields that are set here, or told by the server.
extension OutboxModel {
  /// A field by its owner and its name.
  enum Field: Hashable {
    case message(MessageID, String)
    case room(Int, String)
    case member(MemberID, String)
  }

  /// What is known of a field: its values are numbers that are never used again.
  struct FieldValue: Hashable {
    var number: Int64
    /// nil: it came, or goes, with its message.
    var time: Int64?
    var isLocal = false
  }

  func room(of field: Field) -> Int? {
    switch field {
    case .message(let id, _): messages[id]?.room
    case .room(let room, _): room
    case .member: -1
    }
  }

  /// Whether a value goes with the message that waits to be sent.
  func goesAlong(_ field: Field, isLocal: Bool) -> Bool {
    guard case .message(let id, _) = field, !isLocal, fields[field]?.time == nil,
      let send = entries.first(where: { $0.kind == .send(id) })
    else { return false }
    return !send.mayHaveLeft
  }

  /// Sets a field to a value that has the time that the store gave it.
  mutating func set(_ field: Field, to value: FieldValue) {
    let isAlong = goesAlong(field, isLocal: value.isLocal)
    fields[field] = value
    guard let room = room(of: field) else { return }
    if isAlong, case .message(let id, _) = field {
      if let index = index(room, .send(id)), entries[index].attemptCount > 0 {
        entries[index].changeToken()
      }
      return
    }
    if value.isLocal {
      entries.removeAll { $0.kind == .field(field) && !$0.isRunning }
      return
    }
    var isEntered = false
    for id in entries.filter({ $0.kind == .field(field) && !$0.isRunning }).map(\.id) {
      guard let index = index(id) else { continue }
      let isOther =
        entries[index].state == .failed || holdsNewEntries && entries[index].state != .held
      if isOther || isEntered {
        entries.remove(at: index)
        continue
      }
      entries[index].value = value
      entries[index].changeToken()
      isEntered = true
    }
    if isEntered { return }
    enter(.field(field), room)
    entries[entries.count - 1].value = value
  }

  /// The server, or somebody else through it, has said what a field is.
  mutating func merge(_ value: FieldValue, of field: Field) {
    if let known = fields[field] {
      let (time, other) = (known.time ?? .min, value.time ?? .min)
      if time > other || time == other && known.number >= value.number { return }
    }
    fields[field] = value
  }

  /// Takes the value that an entry tells; returns false if another one counts by now.
  func takeValue(_ entry: inout Entry) -> Bool {
    guard case .field(let field) = entry.kind else { return true }
    guard let value = fields[field], value.time == entry.value?.time, !value.isLocal else {
      return false
    }
    entry.value = value
    return true
  }

  /// The server has taken what an entry told.
  mutating func confirm(_ item: Entry, _ entry: Entry, at time: Int64) {
    guard case .field(let field) = item.kind, let told = item.value, let own = entry.value,
      !entries.contains(where: { $0.kind == .field(field) && $0.id > entry.id }),
      let known = fields[field], !known.isLocal
    else { return }
    let new = FieldValue(number: told.number, time: time)
    if known.time == own.time { fields[field] = new } else { merge(new, of: field) }
  }

  mutating func forget(_ member: MemberID) {
    for case .member(member, let name) in Array(fields.keys) {
      fields[.member(member, name)] = nil
    }
    entries.removeAll {
      if case .field(.member(member, _)) = $0.kind { true } else { false }
    }
  }
}
