import MsgStore
import MsgStoreTools

extension Recount {
  /// The own fields and the kind of each message, and those of the conversation, as a client reads
  /// them, under each name.
  mutating func compareFields(_ room: RoomRecount, _ chat: borrowing StoreSnapshot) throws {
    let id = room.conversation.id
    try compareFields(room.conversation.own, of: .conversation(id), chat)
    for message in room.messages {
      let isShown = !message.isRetracted && !message.isHidden
      let own = isShown ? message.own : OwnFields()
      if message.isRetracted { expect(message.own, OwnFields(), "\(id) \(message.id): own fields") }
      for name in [message.id] + message.aliases + (message.serverName.map { [$0] } ?? []) {
        try compareFields(own, of: .message(name, in: id), chat)
      }
      guard isShown, let shown = try chat.message(message.id, in: id) else { continue }
      // Long values are left out.
      let short = own.all.filter { !$0.name.isEmpty && !$0.isRemoved }.map { register in
        FieldText(register, isLong: register.content.byteCount > 256)
      }
      expect(shown.ownFields.map { FieldText($0) }, short, "\(id) \(message.id): fields")
      expect(shown.ownKind, Self.kind(of: own), "\(id) \(message.id): kind")
    }
  }

  /// The own fields of members, with a profile or without one.
  mutating func compareMemberFields(_ chat: borrowing StoreSnapshot) throws {
    var members: [ExportedProfile] = []
    try chat.forEachExportedProfile { members.append($0) }
    for member in members { try compareFields(member.own, of: .member(member.member), chat) }
  }

  private mutating func compareFields(
    _ own: OwnFields, of owner: FieldOwner, _ chat: borrowing StoreSnapshot
  ) throws {
    let named = own.all.filter { !$0.name.isEmpty }
    expect(
      try chat.ownFields(of: owner).map { FieldText($0) },
      named.filter { !$0.isRemoved }.map { FieldText($0, isLong: false) }, "\(owner): own fields")
    expect(try chat.ownKind(of: owner), Self.kind(of: own), "\(owner): kind")
    expect(named.count <= 16, true, "\(owner): at most 16 names")
    for (a, b) in zip(own.all, own.all.dropFirst()) {
      expect(a.name.lexicographicallyPrecedes(b.name), true, "\(owner): order of names")
    }
    for register in own.all {
      expect(register.content.byteCount <= 65_536, true, "\(owner): length of a value")
      if register.name.isEmpty { expect(register.isLocal, false, "\(owner): a local kind") }
    }
  }

  private static func kind(of own: OwnFields) -> String? {
    guard let first = own.all.first, first.name.isEmpty, case .value(let bytes) = first.content
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The entries that tell of own fields: each has an owner that is there, and of one field no two
  /// wait for their first attempt.
  mutating func compareFieldEntries(_ chat: borrowing StoreSnapshot) throws {
    var unsent: Set<[String]> = []
    try chat.forEachExportedEntry { entry in
      switch entry.task {
      case .setMessageField, .setConversationField, .setMemberField: break
      default: return
      }
      guard entry.attemptCount == 0 else { return }
      let owner = entry.message?.string ?? entry.member?.string ?? ""
      let name = ["\(entry.task)", entry.conversation?.string ?? "", owner, entry.field]
      expect(unsent.insert(name).inserted, true, "\(name): one entry waits")
    }
    for entry in try chat.outbox.entries(count: 100_000).entries {
      guard entry.kind == .setMessageField, let room = entry.conversation, let id = entry.message
      else { continue }
      let message = try chat.message(id, in: room)
      expect(message != nil, true, "\(room): \"\(id)\", whose field waits to be told, is there")
    }
  }
}

/// A field as it is compared.
private struct FieldText: Equatable, CustomStringConvertible {
  let description: String

  init(_ field: OwnField) {
    let value = field.value.map { "\($0)" } ?? "-"
    let time = field.time.map { "\($0.microseconds)" } ?? "-"
    description = "\(field.name) \(field.byteCount) \(value) \(time) \(field.isLocal)"
  }

  init(_ register: OwnRegister, isLong: Bool) {
    var value = "-"
    if case .value(let bytes) = register.content, !isLong { value = "\(bytes)" }
    let time = register.time.map { "\($0)" } ?? "-"
    let name = String(decoding: register.name, as: UTF8.self)
    description = "\(name) \(register.content.byteCount) \(value) \(time) \(register.isLocal)"
  }
}
