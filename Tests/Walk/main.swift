import MsgStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One operation on a store, between two marks that a profiler knows: see `Scripts/walk`.
///
/// usage: walk DIRECTORY prepare, then walk DIRECTORY OPERATION

/// The number of messages that `prepare` enters.
let count = 7000

/// Called around the operation and by nothing else, so that a profile can be cut here by its name.
@inline(never)
func walkedOperation(_ body: UnsafeRawPointer) {
  unsafe body.assumingMemoryBound(to: (() -> Void).self).pointee()
}

func profile(_ operation: () throws -> Void) {
  withoutActuallyEscaping(operation) { operation in
    var body: () -> Void = {
      do {
        try operation()
      } catch {
        fatalError("\(error)")
      }
    }
    unsafe withUnsafePointer(to: &body) { unsafe walkedOperation(UnsafeRawPointer($0)) }
  }
}

func message(_ index: Int) -> Message {
  Message(
    id: MessageID("m\(index)"), in: ConversationID("room \(index % 7)"),
    from: index % 3 == 0 ? "me" : "you",
    text: "A text of usual length, the one with number \(index).",
    serverTimestamp: Timestamp(milliseconds: 1_700_000_000_000 + Int64(index) * 1000),
    sequence: Int64(index / 7 + 1))
}

/// Runs an operation on one of the seven conversations.
func run(
  _ name: String, on store: MessageStore, from next: Int, in number: Int, isProfiled: Bool
) throws {
  func walk(_ operation: () throws -> Void) throws {
    if isProfiled { profile(operation) } else { try operation() }
  }
  let room = ConversationID("room \(number)")
  let newest = count - 1 - (count - 1 - number) % 7
  switch name {
  case "insert":
    try walk { _ = try store.write(.relaxed) { chat in try chat.insert(message(next)) } }
  case "import":
    try walk {
      try store.write(.relaxed) { chat in
        for index in next..<next + 500 { try chat.insert(message(index)) }
      }
    }
  case "tail":
    try walk { _ = try store.read { chat in try chat.thread(room).tail(50).map(\.text) } }
  case "older":
    let edge = try store.read { chat in try chat.thread(room).tail(50).first?.position }
    guard let edge else { return }
    try walk { _ = try store.read { chat in try chat.thread(room).before(edge, count: 50).count } }
  case "id":
    try walk { _ = try store.read { chat in try chat.message(message(newest).id, in: room) } }
  case "list":
    try walk { _ = try store.read { chat in try chat.conversations(count: 20).map(\.unreadCount) } }
  case "edit":
    try walk {
      _ = try store.write(.relaxed) { chat in
        try chat.receiveEdit(
          of: message(newest).id, in: room, text: "Another text.",
          at: Timestamp(milliseconds: 1_800_000_000_000))
      }
    }
  case "react":
    let reaction = Reaction("👍", from: "you", at: Timestamp(milliseconds: 1_800_000_000_000))
    try walk {
      _ = try store.write(.relaxed) { chat in
        try chat.receive(reaction, to: message(newest).id, in: room)
      }
    }
  case "read":
    try walk { _ = try store.write(.relaxed) { chat in try chat.markRead(room) } }
  case "send":
    try walk { _ = try store.send(Message(in: room, from: "me", text: "Sent from here.")) }
  case "outbox":
    _ = try store.send(Message(in: room, from: "me", text: "Sent from here."))
    try walk {
      try store.write(.relaxed) { chat in
        if let item = try chat.outbox.next(for: "walk") { try chat.outbox.complete(item) }
      }
    }
  case "sent":
    try walk {
      let sent = try store.send(Message(in: room, from: "me", text: "Sent from here.")).value
      let item = try store.write(.relaxed) { chat in try chat.outbox.next(for: "walk") }
      guard let item else { fatalError("no work") }
      try store.write(.relaxed) { chat in
        _ = try chat.outbox.complete(item)
        _ = try chat.acknowledge(
          sent.id, in: room, serverTimestamp: Timestamp(milliseconds: 1_800_000_000_000),
          sequence: Int64(next))
      }
    }
  default:
    fatalError("there is no operation \(name)")
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: walk DIRECTORY OPERATION") }
let store = try MessageStore(
  path: arguments[1] + "/walk.msgstore", options: StoreOptions(localMember: "me"))
if arguments[2] == "prepare" {
  for start in stride(from: 0, to: count, by: 500) {
    try store.write(.relaxed) { chat in
      for index in start..<start + 500 { try chat.insert(message(index)) }
    }
  }
} else {
  // The first time pays for what a process pays once, as the metadata of types.
  try run(arguments[2], on: store, from: count, in: 2, isProfiled: false)
  try run(arguments[2], on: store, from: count + 700, in: 3, isProfiled: true)
}
try store.close()
