import MsgStore
import PageFile
import Simulation

/// A store with something of everything: long texts, pending and moved messages, deleted ones, read
/// marks, and facts of all kinds, also of messages that never come; written in many commits with checkpoints between them, so that slots are full of old
/// versions of pages.
struct SalvageSample {
  let directory = MemoryDirectory()
  private let store: MessageStore
  private var random: SeededGenerator
  private var nextID = 0
  private var living: [(id: MessageID, room: ConversationID, isPending: Bool)] = []
  private(set) var deleted: Set<MessageID> = []
  static let roomCount = 12

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    var options = StoreOptions(localMember: "me").makingConversations
    options.packing = .random(seed)
    store = try MessageStore(in: directory, name: "store", options: options)
    try store.write { chat in
      for room in 0..<Self.roomCount {
        try chat.putConversation(
          Self.room(room), participants: ["me", Self.member(room), Self.member(room + 1)],
          title: room % 3 == 0 ? "Room \(room)" : nil)
      }
      try chat.putConversation("nobody", participants: ["me", "silent"], title: "Nobody wrote")
    }
  }

  private static func room(_ index: Int) -> ConversationID { ConversationID("room-\(index)") }
  private static func member(_ index: Int) -> MemberID {
    index % 5 == 0 ? "me" : MemberID("member-\(index)")
  }

  /// Writes commits of some messages each.
  mutating func grow(commits: Int, checkpoints: Bool = true) throws {
    for commit in 0..<commits {
      let (new, gone, moved) = changes()
      let readRoom = Self.room(Int.random(in: 0..<Self.roomCount, using: &random))
      let isRead = random.chance(20)
      let told = facts()
      try store.write(.relaxed) { chat in
        try chat.insert(contentsOf: new)
        for fact in told { try Self.tell(fact, chat) }
        for (id, room) in gone { try chat.delete(id, in: room) }
        for (id, room, time) in moved {
          try chat.acknowledge(
            id, in: room, serverTimestamp: Timestamp(microseconds: time), sequence: time)
        }
        if isRead { try chat.markRead(readRoom) }
      }
      if checkpoints && commit % 7 == 6 { try store.checkpoint() }
    }
  }

  private mutating func changes() -> (
    new: [Message], gone: [(MessageID, ConversationID)], moved: [(MessageID, ConversationID, Int64)]
  ) {
    var new: [Message] = []
    for _ in 0..<Int.random(in: 1...40, using: &random) { new.append(message()) }
    var gone: [(MessageID, ConversationID)] = []
    var moved: [(MessageID, ConversationID, Int64)] = []
    // A run of neighbours now and then, so that whole pages empty.
    let count = random.chance(20) ? 60 : 3
    let start = living.isEmpty ? 0 : Int.random(in: 0..<living.count, using: &random)
    for _ in 0..<count where start < living.count {
      let (id, room, _) = living.remove(at: start)
      deleted.insert(id)
      gone.append((id, room))
    }
    for index in living.indices where living[index].isPending && random.chance(10) {
      living[index].isPending = false
      moved.append(
        (living[index].id, living[index].room, Int64.random(in: 0..<1 << 40, using: &random)))
    }
    for message in new {
      living.append((message.id, message.conversation, message.serverTimestamp == nil))
    }
    return (new, gone, moved)
  }

  /// What somebody says of a message.
  private struct Told {
    let kind: Int
    let id: MessageID
    let room: ConversationID
    let member: MemberID
    let time: Timestamp
    let text: String
  }

  /// Some facts, now and then of a message that does not come.
  private mutating func facts() -> [Told] {
    (0..<12).map { _ in
      let known = living.isEmpty || random.chance(10) ? nil : living.randomElement(using: &random)
      nextID += 1
      return Told(
        kind: Int.random(in: 0...9, using: &random),
        id: known?.id ?? MessageID("w-\(nextID)"),
        room: known?.room ?? Self.room(nextID % Self.roomCount),
        member: Self.member(Int.random(in: 0..<9, using: &random)),
        time: Timestamp(microseconds: Int64.random(in: 1 << 40..<1 << 41, using: &random)),
        text: text())
    }
  }

  private static func tell(_ told: Told, _ chat: borrowing StoreWriter) throws {
    let (id, room) = (told.id, told.room)
    switch told.kind {
    case 0...2:
      try chat.receiveEdit(of: id, in: room, text: told.text, at: told.time)
    case 3...5:
      try chat.receive(Reaction("+1", from: told.member, at: told.time), to: id, in: room)
    case 6...7:
      let name = String(told.text.prefix(40))
      try chat.receive(MessageAttachment(id: name, kind: .image, fileName: name), of: id, in: room)
    case 8:
      try chat.receive(
        ReceivedReceipt(in: room, of: told.member, .read, .messages([id]), time: told.time))
    default:
      try chat.receiveRetraction(of: id, in: room, at: told.time)
    }
  }

  private mutating func message() -> Message {
    nextID += 1
    let room = Int.random(in: 0..<Self.roomCount, using: &random)
    let isPending = random.chance(5)
    let time = Int64.random(in: 0..<1 << 40, using: &random)
    return Message(
      id: MessageID("m-\(nextID)"), in: Self.room(room), from: Self.member(room + nextID % 7),
      text: text(), localTime: isPending || random.chance(10) ? Timestamp(microseconds: time) : nil,
      serverTimestamp: isPending ? nil : Timestamp(microseconds: time),
      sequence: random.chance(50) ? time : nil, status: random.chance(10) ? .failed : nil,
      replyTo: random.chance(10) ? MessageID("m-\(nextID - 1)") : nil)
  }

  private mutating func text() -> String {
    let byteCount =
      random.chance(2)
      ? Int.random(in: 4000...9000, using: &random) : Int.random(in: 1...120, using: &random)
    var bytes = random.bytes(byteCount)
    bytes.makePrintable()
    return String(decoding: bytes, as: UTF8.self)
  }

  func content() throws -> StoreContent { try StoreContent(store) }

  func checkpoint() throws { try store.checkpoint() }

  /// Closes it with everything in the data file, so that its pages are all there is.
  func close() throws {
    try store.checkpoint()
    try store.close()
  }

  /// The files as they are now, as a process that is killed leaves them.
  var files: [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in SalvageSubject.names { files[name] = directory[name] }
    return files
  }
}
