import Foundation
import Testing

/// What every command prints of a small store, to the last blank.
///
/// The expected outputs lie beside this file and are read by people when they change:
/// `MSGSTORE_GOLDEN=record swift test --filter GoldenTests` writes them anew.
@Suite struct GoldenTests {
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
    ("receipts", ["receipts", "--conversation", "book-club"]),
    ("gaps", ["gaps"]),
    ("check", ["check"]),
    ("export", ["export"]),
    ("pages", ["pages"]),
    ("page-settings", ["page", "1"]),
    ("page-messages", ["page", "7"]),
    ("page-branch", ["page", "15"]),
    ("page-facts", ["page", "9"]),
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

  /// The store's id is random.
  private static func masked(_ text: String) -> String {
    text.replacing(/(?m)^(store id +)[0-9a-f]{32}$/) { "\($0.1)(random)" }
  }

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
