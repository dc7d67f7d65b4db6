import MsgStore
import Testing

/// Own fields: set here, told by the server, forgotten with their member.
extension OutboxPlayer {
  private func field() -> OutboxModel.Field? {
    let name = ["a", "b"].randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5: return ownMessage().map { .message($0, name) }
    case 5..<8:
      return room().flatMap { model.rooms[$0].isVisible ? .room($0, name) : nil }
    default: return .member(random.chance(50) ? "ann" : "you", name)
    }
  }

  func setField() throws {
    guard let field = field() else { return }
    serial += 1
    let value = Int64(serial)
    let choice = Int.random(in: 0..<10, using: &random)
    let time = newServerTime()
    try change { (model, chat) throws in
      let (owner, name) = model.named(field)
      switch choice {
      case 0..<7:
        let isLocal = choice == 0
        let isAlong = model.goesAlong(field, isLocal: isLocal)
        #expect(try chat.setOwnField(name, bytes(value), of: owner, isLocal: isLocal))
        let stored = try chat.ownFields(of: owner).first { $0.name == name }
        #expect((stored?.time == nil) == isAlong)
        if let known = model.fields[field]?.time, let new = stored?.time?.microseconds {
          #expect(new > known)
        }
        model.set(
          field, to: .init(number: value, time: stored?.time?.microseconds, isLocal: isLocal))
        note(isLocal ? "local field" : "field")
      case 7..<9:
        let told = OwnField(name, bytes(value), at: .init(microseconds: time))
        try chat.receive([told], of: owner)
        model.merge(.init(number: value, time: time), of: field)
      default:
        guard case .member(let member, _) = field else { return }
        _ = try chat.forgetMember(member)
        model.forget(member)
        note("forgotten member")
      }
    }
  }

  func expectField(_ told: OwnField, _ entry: OutboxModel.Entry, _ model: OutboxModel) {
    guard case .field(let field) = entry.kind, let value = entry.value else {
      Issue.record("\(told) was never entered")
      return
    }
    #expect(told.name == model.named(field).name && told.value == bytes(value.number))
    #expect(told.time?.microseconds == value.time)
  }

  /// Expects each field to have the value that the model has.
  func verifyFields() throws {
    try store.read { chat throws in
      for (field, value) in model.fields {
        if case .message(let id, _) = field, model.messages[id]?.isShown != true { continue }
        if case .room(let room, _) = field, !model.rooms[room].isVisible { continue }
        let (owner, name) = model.named(field)
        let stored = try chat.ownFields(of: owner).first { $0.name == name }
        #expect(stored?.value == bytes(value.number), "\(owner): \(name)")
        #expect(stored?.time?.microseconds == value.time, "\(owner): \(name)")
        #expect(stored?.isLocal == value.isLocal, "\(owner): \(name)")
      }
    }
  }

  private func bytes(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}

extension OutboxModel {
  fileprivate func named(_ field: Field) -> (owner: MsgStore.FieldOwner, name: String) {
    switch field {
    case .message(let id, let name):
      (.message(id, in: rooms[messages[id]?.room ?? 0].name), name)
    case .room(let room, let name): (.conversation(rooms[room].name), name)
    case .member(let id, let name): (.member(id), name)
    }
  }
}

extension OutboxModel.Message {
  fileprivate var isShown: Bool { !isHidden && !isErased }
}
