import Foundation
import MsgStore
import Testing
import msgdump

/// What every command prints of a small store, to the last blank.
///
/// The expected outputs lie beside this file and are read by people when they change:
/// `MSGSTORE_GOLDEN=record swift test --filter GoldenTests` writes them anew.
struct GoldenTests {
  private static let outputs: [(name: String, arguments: [String])] = [
    ("info", ["info"]),
    ("conversations", ["conversations"]),
    ("messages-pending", ["messages", "--conversation", "bob"]),
    ("messages-newlines", ["messages", "--conversation", "project-kite", "--tail", "4"]),
    ("messages-scripts", ["messages", "--conversation", "marks"]),
    ("messages-tail", ["messages", "--conversation", "book-club", "--tail", "6"]),
    (
      "messages-before",
      ["messages", "--conversation", "book-club", "--before", "club-000035", "--count", "5"]
    ),
    (
      "messages-after",
      ["messages", "--conversation", "book-club", "--after", "club-000035", "--count", "5"]
    ),
    (
      "messages-at",
      ["messages", "--conversation", "book-club", "--at", "2026-01-02 00:10", "--count", "5"]
    ),
    ("messages-jsonl", ["messages", "--conversation", "bob", "--tail", "3", "--format", "jsonl"]),
    ("messages-all", ["messages", "--tail", "1"]),
    ("search", ["search", "\"the ba\" e"]),
    ("search-count", ["search", "E", "--conversation", "book-club", "--mine", "--count", "2"]),
    ("search-json", ["search", "jpg", "--kind", "image", "--json"]),
    ("receipts", ["receipts", "--conversation", "book-club"]),
    ("outbox-held", ["outbox", "--at", "2026-03-12"]),
    ("gaps", ["gaps"]),
    ("stats", ["stats", "--count", "3"]),
    ("get", ["get", "--conversation", "book-club", "club-000035"]),
    ("get-pending", ["get", "--conversation", "bob", "bob-5"]),
    ("get-json", ["get", "--json", "--conversation", "project-kite", "project-kite-6"]),
    ("info-json", ["info", "--json"]),
    ("conversations-json", ["conversations", "--json", "--sort", "messages", "--count", "2"]),
    ("page-json", ["page", "--json", "6"]),
    ("page-bytes", ["page", "--bytes", "6"]),
    ("check-json", ["check", "--json"]),
    ("check", ["check"]),
    ("export", ["export"]),
    ("pages", ["pages"]),
    ("page-settings", ["page", "1"]),
    ("page-messages", ["page", "7"]),
    ("page-branch", ["page", "9"]),
    ("page-facts", ["page", "6"]),
    ("page-index", ["page", "3"]),
    ("page-outbox", ["page", "11"]),
    ("tree", ["tree"]),
    ("wal", ["wal"]),
  ]

  @Test func everyCommandPrintsWhatItDid() throws {
    let directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "60").text
    try #require(try directory.run("restore", "-", "chat", input: sample).status == 0)
    for (name, arguments) in Self.outputs {
      let run = try ToolRun([arguments[0], "chat"] + arguments[1...], in: directory.url)
      #expect(run.status == 0 && run.errorText == "", "\(name): \(run.errorText)")
      try expect(Self.masked(run.text), Self.expected.appendingPathComponent("\(name).txt"))
    }
  }

  @Test func aCompactedStoreLooksAsItDid() throws {
    let directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "60").text
    try #require(try directory.run("restore", "-", "chat", input: sample).status == 0)
    let run = try directory.run("compact", "chat", "small")
    #expect(run.status == 0 && run.errorText == "" && run.output.isEmpty)
    for command in ["info", "tree"] {
      let text = Self.masked(try directory.run(command, "small").text)
      try expect(text, Self.expected.appendingPathComponent("compact-\(command).txt"))
    }
    try expect(
      try directory.run("compact", "--help").text,
      Self.expected.appendingPathComponent("compact-help.txt"))
  }

  /// A store whose outbox has entries of every state.
  private func makeWaiting(at path: String) throws {
    let clock = TestClock(1_773_252_000_000_000)
    var options = StoreOptions(localMember: "ann", clock: { clock.now }).makingConversations
    options.outbox.chance = { 0.5 }
    let store = try MessageStore(path: path, options: options)
    var room: ConversationID = ""
    func compose(_ id: MessageID, in room: ConversationID, _ text: String) throws {
      clock.set(clock.now.microseconds + 60_000_000)
      try store.write { chat in
        try chat.send(Message(id: id, in: room, from: "ann", text: text))
      }
    }
    try store.write { chat in
      room = try chat.findOrCreateConversation(with: ["ann", "bob"]).id
      try chat.renameConversation(room, to: "bob")
      for name in ["chen", "dina", "eve"] as [ConversationID] {
        try chat.insert(
          Message(
            id: "m-1", in: name, from: MemberID(name.string), text: "Hi", serverTimestamp: clock.now
          ))
      }
    }
    try compose("p-1", in: "bob", "on its way")
    try compose("p-2", in: "bob", "behind it")
    try compose("p-3", in: "chen", "tried again")
    try compose("p-4", in: "dina", "refused\nby the server")
    try store.write { chat in
      try chat.edit("p-4", in: "dina", text: "refused, and edited")
      try chat.react("👍", to: "m-1", in: "dina")
      let items = try (0..<3).compactMap { _ in try chat.outbox.next(for: "main \u{1b}[1m") }
      for item in items where item.conversation == "chen" {
        try chat.outbox.fail(item, because: SendFailure(.timeOut, text: "no answer"))
      }
      for item in items where item.conversation == "dina" {
        try chat.outbox.fail(item, because: SendFailure(.permission, code: 403, text: "blocked"))
      }
      try chat.outbox.setHoldsNewEntries(true)
    }
    try compose("p-5", in: "eve", "to be looked at")
    try store.write { chat in
      try chat.markRead("eve")
      try chat.outbox.enter("push token", payload: Array("a1b2".utf8))
    }
    try store.close()
  }

  @Test func theOutboxShowsEveryState() throws {
    let directory = try TemporaryDirectory()
    try makeWaiting(at: directory.path("chat"))
    for (name, arguments) in [
      ("outbox", []), ("outbox-dina", ["--conversation", "dina"]),
    ] as [(String, [String])] {
      let run = try ToolRun(
        ["outbox", "chat", "--at", "2026-03-13"] + arguments, in: directory.url)
      #expect(run.status == 0 && run.errorText == "", "\(run.errorText)")
      try expect(run.text, Self.expected.appendingPathComponent("\(name).txt"))
    }
    try expect(
      try directory.run("outbox", "--help").text,
      Self.expected.appendingPathComponent("outbox-help.txt"))
    let info = try directory.run("info", "chat").text
    #expect(info.contains("\noutbox              9 entries: "))
    #expect(info.contains("; new ones are held\n"))
    let lines = try directory.run("outbox", "chat", "--format", "jsonl").text
    let exported = try directory.run("export", "chat").text
    #expect(exported.hasSuffix(lines))
    #expect(try records(of: lines).count == 9)
  }

  /// Each key of the outbox is drawn as what it is.
  @Test func theKeysOfTheOutboxAreDescribed() throws {
    let directory = try TemporaryDirectory()
    try makeWaiting(at: directory.path("chat"))
    let pages = try directory.run("pages", "chat").text.split(separator: "\n")
    let page = try #require(pages.first { $0.contains("work") }?.split(separator: " ").first)
    let text = try directory.run("page", "chat", String(page)).text
    for key in [
      "entry 2", "of 1, entry 2", "lane of 1, entry 2", "due 0 µs, entry 7",
      "of 1 \"p-1\", entry", "lane of 1",
    ] {
      #expect(text.contains(key), "\(key)")
    }
  }

  /// The store's id is random.
  private static func masked(_ text: String) -> String {
    text.replacing(/(?m)^(store id +|.*"store_id":")[0-9a-f]{32}/) { "\($0.1)(random)" }
  }

  /// Compares a text with a file.
  private func expect(_ text: String, _ file: URL) throws {
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record" {
      return try Data(text.utf8).write(to: file)
    }
    let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    let name = file.lastPathComponent
    let lines = zip(text.split(separator: "\n"), expected.split(separator: "\n"))
    if let (line, other) = lines.first(where: { !$0.utf8.elementsEqual($1.utf8) }) {
      Issue.record("\(name): \"\(line)\" where \"\(other)\" was")
    } else {
      #expect(text.utf8.elementsEqual(expected.utf8), "\(name) has more lines or fewer")
    }
  }

  private static let expected = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Expected")
}
