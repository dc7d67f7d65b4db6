import Foundation
import MsgStore
import PageFile
import Testing

/// The example of the README is this code, so it builds, and it does what it says.
@Suite struct ReadmeExampleTests {
  private func runExample(path: String, show: (Message) -> Void) throws {
    // README begins
    // Opens the store or makes it. One process owns it; others may read it meanwhile.
    let store = try MessageStore(path: path, options: .init(localMember: "ann"))

    // One closure is one commit: all of it or nothing, and on the disk when it returns.
    let room = try store.write { chat in
      let room = try chat.conversation(with: ["ann", "bob"]).id
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

    // What is done here is shown at once, and kept until the server has been told.
    try store.write { chat in
      try chat.edit("m-1", in: room, text: "on my way")
      try chat.markRead(room)
    }
    let receipts = try store.read { try $0.pendingReceipts(in: room, .read, as: .mark) }
    try store.write { chat in for receipt in receipts { try chat.confirm(receipt) } }

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
    try runExample(path: directory.url.appendingPathComponent("chat").path) {
      texts.append($0.text)
    }
    #expect(texts == ["on my way", "hurry!"])
    let store = try MessageStore(path: directory.url.appendingPathComponent("chat").path)
    try store.read { chat in
      let room = try #require(try chat.conversations(count: 1).first)
      #expect(room.unreadCount == 0 && room.hasDraft)
      let thread = try chat.thread(room.id).tail(2)
      #expect(thread[0].status == .read && thread[0].isEdited && thread[0].syncStatus == .pending)
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
