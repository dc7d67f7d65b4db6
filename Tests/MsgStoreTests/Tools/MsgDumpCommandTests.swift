import Foundation
import Testing

/// The commands from the outside: what they print, what they leave behind, how they end.
struct MsgDumpCommandTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func restoreSample() throws -> String {
    let sample = try directory.run("sample", "--messages", "1200").text
    let restored = try directory.run("restore", "-", "chat", input: sample)
    #expect(
      restored.status == 0 && restored.errorText == "" && restored.text.hasPrefix("restored: "))
    return sample
  }

  @Test func anExportIsWhatWasRestored() throws {
    let sample = try restoreSample()
    let export = try directory.run("export", "chat")
    #expect(export.status == 0)
    #expect(Self.withoutStates(export.text) == Self.withoutStates(sample))
    #expect(try directory.run("restore", "-", "again", input: export.text).status == 0)
    #expect(try directory.run("export", "again").text == export.text)
  }

  /// What waits to be sent is held when it is restored.
  private static func withoutStates(_ lines: String) -> [Substring] {
    lines.split(separator: "\n").map { line in
      let isWaiting = line.contains(#""kind":"outbox""#) || line.contains(#""timestamp_ms":null"#)
      let states = #/,"(state|status)":"(failed|held)"/#
      return isWaiting ? line.replacing(states, with: "")[...] : line
    }
  }

  @Test func aBadLineLeavesNothingBehind() throws {
    let good = #"{"conversation":"c","id":"m","sender":"s","text":"t","timestamp_ms":1}"# + "\n"
    for (bad, reason) in [
      ("{\"conversation\":7}", "line 3, byte 17: expected a string"),
      (good, "line 3: the message id \"m\" is already present"),
      (
        #"{"conversation":"c","id":"","sender":"s","text":"t","timestamp_ms":1}"#,
        "line 3: a message id is empty"
      ),
      (#"{"kind":"store","local_member":"a"}"#, "line 3: the store's own line must be the first"),
      (
        #"{"kind":"receipt","conversation":"c","up_to":"x"}"#,
        "line 3: receipt up to \"x\": the conversation has no such message"
      ),
    ] {
      let run = try directory.run("restore", "-", "chat", input: good + "\n" + bad)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errorText == "msgdump: \(reason)\n")
      #expect(try directory.names == [])
    }
  }

  @Test func whatIsThereIsNotTouched() throws {
    let file = directory.url.appendingPathComponent("chat")
    for name in ["chat", "chat-wal1", "chat.restoring"] {
      let other = directory.url.appendingPathComponent(name)
      try Data("precious".utf8).write(to: other)
      let run = try directory.run("restore", "-", "chat")
      #expect(run.status == 2 && run.errorText.contains(name))
      #expect(try Data(contentsOf: other) == Data("precious".utf8))
      #expect(try directory.names == [name])
      try FileManager.default.removeItem(at: other)
    }
    // What mktemp leaves is no store, and nothing that could be lost.
    try Data().write(to: file)
    #expect(try directory.run("restore", "-", "chat").status == 0)
    #expect(try directory.run("export", "chat").text == "")
  }

  private func lines(_ count: Int) -> String {
    (0..<count).map { number in
      #"{"conversation":"c","id":"m\#(number)","sender":"s","text":"t","timestamp_ms":\#(number)}"#
        + "\n"
    }.joined()
  }

  /// Runs `body` while a restore waits for the third line of its input.
  private func withRestoreUnderWay(_ body: (Victim) throws -> Void) throws {
    let path = directory.path("input")
    let result = unsafe mkfifo(path, 0o600)
    try #require(result == 0)
    let input = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? input.close() }
    try input.write(contentsOf: Data(lines(2).utf8))
    let victim = try Victim("msgdump", ["restore", "input", "chat"], in: directory.url)
    try victim.wait { try directory.names.contains("chat.restoring-wal1") }
    try body(victim)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func anInterruptedRestoreLeavesNothing(signal: Int32) throws {
    try withRestoreUnderWay { victim in #expect(victim.end(by: signal) == signal) }
    #expect(try !directory.names.contains { $0.hasPrefix("chat") })
  }

  @Test func theRemainsOfAKilledRestoreAreReplaced() throws {
    try withRestoreUnderWay { victim in
      let other = try directory.run("restore", "-", "chat", input: lines(2))
      #expect(other.status == 2 && other.errorText.contains("in use by another restore"))
      #expect(victim.end(by: SIGKILL) == SIGKILL)
    }
    #expect(try directory.names.contains("chat.restoring"))
    let run = try directory.run("restore", "-", "chat", input: lines(2))
    #expect(run.status == 0 && run.text == "restored: 2 messages in 1 conversation\n")
    #expect(try !directory.names.contains { $0.contains("restoring") })
  }

  @Test func aByteOrderMarkIsSkipped() throws {
    let run = try directory.run("restore", "-", "chat", input: "\u{FEFF}" + lines(2))
    #expect(run.status == 0 && run.text == "restored: 2 messages in 1 conversation\n")
  }

  @Test(arguments: [
    (#"{"id":"a","color":1}"#, "unknown field \"color\" of a message; --own-field keeps it"),
    (#"{"kind":"new","x":1}"#, "unknown kind \"new\""),
  ])
  func somethingUnknownNamesTheOptionThatSkipsIt(line: String, words: String) throws {
    let run = try directory.run("restore", "-", "chat", input: line)
    #expect(run.status == 2)
    #expect(run.errorText.hasSuffix("\(words); --lenient skips it\n"), "\(run.errorText)")
  }

  @Test func aLenientRestoreTellsItsOmissions() throws {
    let input =
      lines(2) + lines(1) + #"{"kind":"new","x":1}"# + "\n"
      + #"{"conversation":"c","id":"n","sender":"s","text":"t","timestamp_ms":9,"mood":1}"# + "\n"
    let run = try directory.run("restore", "--lenient", "-", "chat", input: input)
    #expect(
      run.text == """
        restored: 3 messages in 1 conversation
        passed over: 1 repeated record, 1 unknown line, 1 unknown field

        """)
  }

  @Test(arguments: [
    (["restore", "-", "nowhere/chat"], "nowhere: no such folder"),
    (["info", "."], "a directory, not a store"),
    (["backup", "chat", "chat"], "chat already exists; backup only makes new stores"),
    (["get", "chat", "x", "--conversation", "c"], "there is no message \"x\" in \"c\""),
    (["get", "chat", "x", "--conversation", "d"], "there is no conversation \"d\""),
    (["stats", "chat", "--count", "0"], "--count: below 1"),
    (["conversations", "chat", "--count", "0"], "--count: below 1"),
    (["search", "chat", "x", "--count", "0"], "--count: below 1"),
    (["search", "chat", "x", "--conversation", "d"], "there is no conversation \"d\""),
    (["search", "chat", " \"\" "], "a search query has nothing to look for"),
    (["search", "chat", "x", "--kind", "song"], "--kind: unknown (song)"),
    (["search", "chat", "x", "--since", "soon"], "--since takes a date such as 2024-01-31 or"),
    (
      ["search", "chat", "x", "--since", "2024-01-02", "--until", "2024-01-02"],
      "--until: not after --since"
    ),
    (["export", "chat", "--since", "soon"], "--since takes a date such as 2024-01-31 or"),
  ])
  func mistakesNameTheirSubject(arguments: [String], words: String) throws {
    try #require(try directory.run("restore", "-", "chat", input: lines(2)).status == 0)
    let run = try ToolRun(arguments, in: directory.url)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errorText.contains(words), "\(run.errorText)")
  }

  @Test(arguments: [
    ("SQLite format 3\0", "an SQLite database, not a store"), ("", "empty file, not a store"),
    ("{\"kind\":1}", "text (JSON lines?), not a store; see restore"),
    ("anything else", "not a data file of this format"),
  ])
  func aFileOfAnotherKindIsNamed(content: String, sentence: String) throws {
    try Data(content.utf8).write(to: directory.url.appendingPathComponent("file"))
    let run = try directory.run("info", "file")
    #expect(run.status == 2 && run.errorText.hasSuffix("file: \(sentence)\n"), "\(run.errorText)")
  }

  @Test func unknownFieldsBecomeOwnOnesOnRequest() throws {
    let line =
      #"{"conversation":"c","id":"a","sender":"s","text":"t","timestamp_ms":1,"#
      + #""thread":"a \"b\"","n":[1, {"x":null}],"none":null}"#
    #expect(
      try directory.run("restore", "--own-field", "thread", "-", "n", input: line).status == 2)
    let run = try directory.run(
      "restore", "--own-field", "thread", "--own-field", "n", "--own-field", "none", "-", "n",
      input: line)
    #expect(run.status == 0, "\(run.errorText)")
    let text = try directory.run("export", "n").text
    #expect(
      text.contains(
        #""own_fields":[{"name":"n","text":"[1, {\"x\":null}]"},"#
          + #"{"name":"thread","text":"a \"b\""}]}"#), "\(text)")
  }

  @Test func ordersAreNumberedOnRequest() throws {
    let lines = ["b", "a"].map {
      #"{"conversation":"c","id":"\#($0)","sender":"s","text":"t","timestamp_ms":1}"# + "\n"
    }
    #expect(
      try directory.run("restore", "--sequence-from-order", "-", "n", input: lines.joined()).status
        == 0)
    let messages = try directory.run("messages", "n", "--conversation", "c", "--format", "jsonl")
    #expect(
      messages.text.split(separator: "\n").map { $0.contains(#""id":"b""#) } == [true, false])
    #expect(messages.text.contains(#""sequence":2"#))
  }

  @Test func aThreadIsReadFromPlaceToPlace() throws {
    _ = try restoreSample()
    func ids(_ arguments: String...) throws -> [Substring] {
      let all = ["messages", "chat", "--conversation", "book-club"] + arguments
      let run = try ToolRun(all + ["--format", "jsonl"], in: directory.url)
      #expect(run.status == 0)
      return run.text.split(separator: "\n").compactMap { line in
        line.firstRange(of: #""id":""#).map { line[$0.upperBound...].prefix { $0 != "\"" } }
      }
    }
    #expect(try ids("--tail", "2") == ["club-001199", "club-001200"])
    #expect(
      try ids("--before", "club-001199", "--count", "2") == ["club-001197", "club-001198"])
    #expect(try ids("--after", "club-001198", "--count", "1") == ["club-001199"])
    #expect(try ids("--at", "1999-01-01", "--count", "2") == ["club-000001", "club-000002"])
    #expect(try ids().count == 1200)
  }

  @Test(arguments: [
    ["frobnicate"], ["messages"], ["messages", "nowhere"], ["info", "nowhere"],
    ["check", "nowhere"], ["outbox", "nowhere"], ["outbox", "chat", "--at", "soon"],
    ["messages", "chat", "--tail", "1", "--before", "x", "--conversation", "c"],
    ["messages", "chat", "--at", "soon", "--conversation", "c"],
    ["messages", "chat", "--before", "x"],
    ["messages", "chat", "--conversation", "c", "--tail", "0"], ["page", "chat", "x"],
    ["restore", "nowhere", "chat"], ["restore", "-", "nowhere/chat"],
  ])
  func mistakesAreSaidInOneLine(arguments: [String]) throws {
    let run = try ToolRun(arguments, in: directory.url)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errorText.hasPrefix("msgdump: ") && run.errorText.hasSuffix("\n"))
    #expect(run.errorText.count { $0.isNewline } == 1, "\(run.errorText)")
    #expect(try directory.names == [])
  }

  @Test func helpIsNoMistake() throws {
    for arguments in [
      ["--help"], ["messages", "--help"], ["outbox", "--help"], ["help", "restore"],
    ] {
      let run = try ToolRun(arguments, in: directory.url)
      #expect(run.status == 0 && run.errorText == "" && run.text.contains("USAGE"))
    }
  }
}
