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
      try chat.insert(Message(id: "m-1", in: room, from: "ann", text: "on my way"))
      return room
    }

    // What comes from the server may be relaxed: it can be fetched again.
    let noon = Timestamp(milliseconds: 1_704_110_400_000)
    try store.write(.relaxed) { chat in
      try chat.acknowledge("m-1", in: room, serverTimestamp: noon, sequence: 1)
      try chat.insert(
        Message(in: room, from: "bob", text: "hurry!", serverTimestamp: noon, sequence: 2))
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
    try runExample(path: directory.url.appendingPathComponent("chat").path) {
      texts.append($0.text)
    }
    #expect(texts == ["on my way", "hurry!"])
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
