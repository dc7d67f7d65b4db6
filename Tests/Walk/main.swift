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

/// Called around the operation and by nothing else, so that a profile can be cut here by its name.
@inline(never)
func walkedOperation(_ body: UnsafeRawPointer) {
  unsafe body.assumingMemoryBound(to: (() -> Void).self).pointee()
}

func walk(_ operation: () throws -> Void) {
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

func run(_ name: String, on store: MessageStore, from count: Int) throws {
  let room: ConversationID = "room 3"
  let newest = count - 1 - (count - 1 - 3) % 7
  switch name {
  case "insert":
    walk { _ = try store.write(.relaxed) { chat in try chat.insert(message(count)) } }
  case "import":
    walk {
      try store.write(.relaxed) { chat in
        for index in count..<count + 500 { try chat.insert(message(index)) }
      }
    }
  case "tail":
    walk { _ = try store.read { chat in try chat.thread(room).tail(50).map(\.text) } }
  case "older":
    let edge = try store.read { chat in try chat.thread(room).tail(50).first?.position }
    guard let edge else { return }
    walk { _ = try store.read { chat in try chat.thread(room).before(edge, count: 50).count } }
  case "id":
    walk { _ = try store.read { chat in try chat.message(message(newest).id, in: room) } }
  case "list":
    walk { _ = try store.read { chat in try chat.conversations(count: 20).map(\.unreadCount) } }
  case "edit":
    walk {
      _ = try store.write(.relaxed) { chat in
        try chat.receiveEdit(
          of: message(newest).id, in: room, text: "Another text.",
          at: Timestamp(milliseconds: 1_800_000_000_000))
      }
    }
  case "react":
    let reaction = Reaction("👍", from: "you", at: Timestamp(milliseconds: 1_800_000_000_000))
    walk {
      _ = try store.write(.relaxed) { chat in
        try chat.receive(reaction, to: message(newest).id, in: room)
      }
    }
  case "read":
    walk { _ = try store.write(.relaxed) { chat in try chat.markRead(room) } }
  case "send":
    walk { _ = try store.send(Message(in: room, from: "me", text: "Sent from here.")) }
  case "outbox":
    _ = try store.send(Message(in: room, from: "me", text: "Sent from here."))
    walk {
      try store.write(.relaxed) { chat in
        if let item = try chat.outbox.next(for: "walk") { try chat.outbox.complete(item) }
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
let count = 7000
if arguments[2] == "prepare" {
  for start in stride(from: 0, to: count, by: 500) {
    try store.write(.relaxed) { chat in
      for index in start..<start + 500 { try chat.insert(message(index)) }
    }
  }
} else {
  try run(arguments[2], on: store, from: count)
}
try store.close()
