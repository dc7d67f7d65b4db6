import Foundation
import MsgStore
import PageFile
import Testing

/// The example of the README is this code, so it builds, and it does what it says.
struct ReadmeExampleTests {
  /// A server that takes everything.
  private final class Server {
    var kinds: [String] = []
    var tokens: Set<OutboxToken> = []

    func take(_ task: OutboxTask, in conversation: ConversationID?, token: OutboxToken) throws {
      if !tokens.insert(token).inserted { throw CancellationError() }
      kinds.append(Mirror(reflecting: task).children.first?.label ?? "\(task)")
    }
  }

  private func runExample(path: String, server: Server, show: (Message) -> Void) throws {
    // README begins
    // Opens the store or makes it. One process owns it; others may read it meanwhile.
    let store = try MessageStore(path: path, options: .init(localMember: "ann"))

    // One closure is one commit: all of it or nothing, and on the disk when it returns.
    let room = try store.write { chat in
      let room = try chat.findOrCreateConversation(with: ["ann", "bob"]).id
      try chat.send(Message(id: "m-1", in: room, from: "ann", text: "on my wya"))
      try chat.setDraft("and then", replyTo: "m-1", in: room)
      return room
    }

    // What comes from the server may be relaxed: it can be fetched again. It may come in any order.
    let noon = Timestamp(milliseconds: 1_704_110_400_000)
    try store.write(.relaxed) { chat in
      try chat.receive(Reaction("👍", from: "ann", at: noon), to: "m-2", in: room)
      try chat.insert(
        Message(
          id: "m-2", in: room, from: "bob", text: "hurry!", serverTimestamp: noon, sequence: 2))
      try chat.acknowledge("m-1", in: room, serverTimestamp: noon, sequence: 1)
      try chat.receive(ReceivedReceipt(in: room, of: "bob", .read, .upTo("m-1"), time: noon))
      try chat.setSyncPosition([42], for: "server")
    }

    // One's own message can be seen in microseconds; on the disk it is a moment later.
    let sent = try store.send(Message(in: room, from: "ann", text: "five minutes"))
    try sent.waitUntilDurable()  // or, without blocking a thread: try await sent.waitUntilDurable()

    // What is done here is shown at once, and lies in the outbox by the same commit.
    try store.write { chat in
      try chat.edit("m-1", in: room, text: "on my way")
      try chat.markRead(room)
    }

    // Work is handed out in order, under a lease and one token, until the server has it.
    while let work = try store.write({ try $0.outbox.next(for: "sync") }) {
      do {
        try server.take(work.task, in: work.conversation, token: work.token)
        try store.write { chat in try chat.outbox.complete(work) }
      } catch {
        try store.write { chat in
          try chat.outbox.fail(work, because: SendFailure(.noConnection))
        }
      }
    }

    // The newest messages, oldest first, as a screen shows them; then the page before them.
    let newest = try store.read { try $0.thread(room).tail(50) }
    for message in newest { show(message) }
    if case .more(let position) = newest.older {
      for message in try store.read({ try $0.thread(room).before(position, count: 50) }) {
        show(message)
      }
    }
    try store.close()
    // README ends
  }

  @Test func theExampleShowsBothMessages() throws {
    let directory = try TemporaryDirectory()
    var texts: [String] = []
    let server = Server()
    try runExample(path: directory.url.appendingPathComponent("chat").path, server: server) {
      texts.append($0.text)
    }
    #expect(texts == ["on my way", "hurry!", "five minutes"])
    #expect(server.kinds == ["createConversation", "send", "edit", "receipt"])
    let store = try MessageStore(path: directory.url.appendingPathComponent("chat").path)
    try store.read { chat in
      let room = try #require(try chat.conversations(count: 1).first)
      #expect(room.unreadCount == 0 && room.hasDraft)
      let thread = try chat.thread(room.id).tail(3)
      #expect(thread[0].status == .read && thread[0].isEdited && thread[0].syncStatus == .synced)
      #expect(thread[2].status == .sent)
      #expect(try chat.outbox.counts().total == 0)
      #expect(thread[1].reactions.map(\.emoji) == ["👍"])
      #expect(try chat.pendingReceipts(in: room.id, .read, as: .mark) == [])
    }
    try store.expectSound()
  }

  @Test func theReadmeHasTheSameCode() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let readme = try String(
      contentsOf: URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("README.md"), encoding: .utf8)
    let marks = ["begins", "ends"].map { "    // README \($0)\n" }
    let begin = try #require(source.range(of: marks[0])).upperBound
    let end = try #require(source.range(of: marks[1], range: begin..<source.endIndex)).lowerBound
    let code = source[begin..<end].split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("    ") ? $0.dropFirst(4) : $0 }.joined(separator: "\n")
    #expect(readme.contains("```swift\nimport MsgStore\n\n\(code)```\n"))
  }
}
