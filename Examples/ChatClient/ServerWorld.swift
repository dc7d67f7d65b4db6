import Foundation
import MsgStore

/// What the pretend server knows: conversations, messages, files, and what everybody has to hear of.
struct ServerWorld: Sendable {
  struct Room: Sendable {
    var wire: WireRoom
    var messages: [MessageID: WireMessage] = [:]
    var unsent: Set<MessageID> = []
    /// The messages as they were sent; the one with number 1 is the first.
    var sent: [WireMessage] = []
    /// All that has happened, for those who join later.
    var news: [News] = []
  }

  /// What a member's devices are to hear of; a device says how much of that it has.
  struct Inbox: Sendable {
    private(set) var items: [News] = []
    /// The number of the last message of each conversation.
    private(set) var lastNumbers: [ConversationID: Int64] = [:]

    mutating func append(_ item: News) {
      items.append(item)
      if case .message(let message) = item { lastNumbers[message.room] = message.sequence }
    }
  }

  var rooms: [ConversationID: Room] = [:]
  var news: [MemberID: Inbox] = [:]
  private var uploads: [String: (bytes: Data, isDone: Bool)] = [:]
  private var lastTime: Microseconds = .min
  var profiles: [MemberID: WireProfile] = [:]
  /// How many messages of a conversation are told at once to somebody who has missed more of them;
  /// the others can be asked for.
  var toldCount = Int.max

  /// A server answers a client's mistake as it does any other request; it throws nothing.
  mutating func answer(_ request: Request, at time: Microseconds) -> Answer {
    do throws(Refused) {
      return try apply(request.call, by: request.member, token: request.token ?? "", at: time)
    } catch {
      return .refused(error.refusal, error.text)
    }
  }

  struct Refused: Error {
    let refusal: Refusal
    let text: String
    init(_ refusal: Refusal, _ text: String) {
      self.refusal = refusal
      self.text = text
    }
  }

  private mutating func apply(
    _ call: Call, by member: MemberID, token: String, at time: Microseconds
  ) throws(Refused) -> Answer {
    switch call {
    case .news(let count): return newsAnswer(after: count, for: member)
    case .createRoom(let wire): return try createRoom(wire, by: member, at: time)
    case .changeRoom(let id, let change): try self.change(id, change, by: member, at: time)
    case .deleteRoom(let id):
      // The others keep it; the member's other devices do not.
      news[member, default: Inbox()].append(.roomDeleted(id, at: time))
    case .send(let message): return try send(message, by: member, at: time)
    case .edit(let id, let room, let text, let mentions):
      try own(id, in: room, of: member)
      rooms[room]?.messages[id]?.text = text
      tell(.edit(id, in: room, text: text, mentions: mentions, at: time), in: room)
    case .retract(let id, let room):
      try own(id, in: room, of: member)
      rooms[room]?.unsent.insert(id)
      rooms[room]?.messages[id]?.text = ""
      tell(.retract(id, in: room, at: time), in: room)
    case .react(let emoji, let id, let room, let isRemoved):
      guard try self.room(room, for: member).messages[id] != nil else {
        throw Refused(.notFound, "there is no message \(id)")
      }
      tell(
        .reaction(emoji, from: member, to: id, in: room, isRemoved: isRemoved, at: time), in: room)
    case .receipt(let receipt):
      _ = try room(receipt.room, for: member)
      tell(.receipt(receipt, of: member, at: time), in: receipt.room)
    case .uploadState(let name): return uploadAnswer(name)
    case .uploadPiece(let name, let offset, let bytes, let isLast):
      return take(bytes, at: offset, isLast, of: name)
    case .downloadPiece(let url, let offset, let count):
      return try piece(of: url, at: offset, count)
    case .setProfile(let name, let picture): setProfile(name, picture, of: member)
    case .history(let id, let first, let last, let count):
      return try history(of: room(id, for: member), first, last, count)
    }
    return .done(at: time)
  }

  // MARK: News

  private func newsAnswer(after count: Int, for member: MemberID) -> Answer {
    let inbox = news[member] ?? Inbox()
    let rest = inbox.items.dropFirst(count).prefix(100)
    let next = count + rest.count
    // The numbers say how many messages come after each, without a look at them.
    let told = rest.filter { item in
      guard case .message(let message) = item, let number = message.sequence else { return true }
      return Int(inbox.lastNumbers[message.room, default: 0] - number) < toldCount
    }
    return .news(told, next: next)
  }

  private mutating func tell(_ item: News, in room: ConversationID) {
    guard let members = rooms[room]?.wire.members else { return }
    rooms[room]?.news.append(item)
    for member in members { news[member, default: Inbox()].append(item) }
  }

  // MARK: Conversations

  private func room(
    _ id: ConversationID, for member: MemberID
  ) throws(Refused) -> Room {
    guard let room = rooms[id] else { throw Refused(.notFound, "there is no conversation \(id)") }
    guard room.wire.members.contains(member) else {
      throw Refused(.permission, "\(member) takes no part in \(id)")
    }
    return room
  }

  private mutating func createRoom(
    _ wire: WireRoom, by member: MemberID, at time: Microseconds
  ) throws(Refused) -> Answer {
    guard wire.members.contains(member) else {
      throw Refused(.permission, "\(member) takes no part")
    }
    var wire = wire
    wire.members.sort()
    // Two who write to each other for the first time at once mean one conversation.
    if wire.isDirect,
      let room = rooms.values.first(where: { $0.wire.isDirect && $0.wire.members == wire.members })
    {
      return .room(room.wire.id)
    }
    wire.id = ConversationID("room-\(rooms.count + 1)")
    wire.changedAt = time
    rooms[wire.id] = Room(wire: wire)
    tell(.room(wire), in: wire.id)
    tellProfiles(in: wire.id)
    return .room(wire.id)
  }

  private mutating func change(
    _ id: ConversationID, _ change: RoomChange, by member: MemberID, at time: Microseconds
  ) throws(Refused) {
    var room = try room(id, for: member)
    let before = room.wire.members
    switch change {
    case .title(let title): room.wire.title = title
    case .avatar(let avatar): room.wire.avatar = avatar
    case .members(let added, let removed):
      room.wire.members = (before + added.filter { !before.contains($0) })
        .filter { !removed.contains($0) }
    }
    room.wire.changedAt = time
    rooms[id] = room
    for member in room.wire.members where !before.contains(member) {
      for item in room.news { news[member, default: Inbox()].append(item) }
    }
    tell(.room(room.wire), in: id)
    tellProfiles(in: id)
    // Who has left hears of that, and of nothing more.
    for member in before where !room.wire.members.contains(member) {
      news[member, default: Inbox()].append(.room(room.wire))
    }
  }

  // MARK: Messages

  private mutating func send(
    _ message: WireMessage, by member: MemberID, at time: Microseconds
  ) throws(Refused) -> Answer {
    let known = try room(message.room, for: member).messages[message.id]
    guard !message.text.isEmpty || !message.files.isEmpty else {
      throw Refused(.invalid, "a message says something")
    }
    // The same id is the same message, also when it comes under another token.
    if let time = known?.time, let number = known?.sequence {
      return .placed(at: time, sequence: number)
    }
    var message = message
    let number = Int64(rooms[message.room]?.sent.count ?? 0) + 1
    message.sender = member
    message.time = time
    message.sequence = number
    // In its place: a changed copy of the conversation would cost as much as all its messages.
    rooms[message.room]?.messages[message.id] = message
    rooms[message.room]?.sent.append(message)
    tell(.message(message), in: message.room)
    return .placed(at: time, sequence: number)
  }

  /// Who changes a message has to have written it.
  private func own(
    _ id: MessageID, in room: ConversationID, of member: MemberID
  ) throws(Refused) {
    let room = try self.room(room, for: member)
    guard let message = room.messages[id], !room.unsent.contains(id) else {
      throw Refused(.notFound, "there is no message \(id)")
    }
    guard message.sender == member else {
      throw Refused(.permission, "message \(id) is somebody else's")
    }
  }

  func messages(in room: ConversationID) -> [WireMessage] {
    (rooms[room]?.messages.values).map(Array.init)?
      .sorted { ($0.sequence ?? 0) < ($1.sequence ?? 0) } ?? []
  }

  // MARK: Files

  private func uploadAnswer(_ name: String) -> Answer {
    guard let upload = uploads[name] else { return .received(byteCount: 0) }
    return upload.isDone
      ? .uploaded(url: "files/\(name)") : .received(byteCount: upload.bytes.count)
  }

  private mutating func take(
    _ bytes: Data, at offset: Int, _ isLast: Bool, of name: String
  ) -> Answer {
    // A piece that was there already, or that comes too early, changes nothing.
    let isNext = offset == uploads[name]?.bytes.count ?? 0
    if isNext, uploads[name]?.isDone != true {
      uploads[name, default: (Data(), false)].bytes += bytes
      uploads[name]?.isDone = isLast
    }
    return uploadAnswer(name)
  }

  var files: [String: Data] {
    var files: [String: Data] = [:]
    for (name, upload) in uploads where upload.isDone { files["files/\(name)"] = upload.bytes }
    return files
  }
}
