import Foundation
import Testing

/// Lines that `restore` cannot take: their number and the reason in one sentence, and no store.
struct BadLineTests {
  private static let good = line(#""text":"t""#)

  /// A message in which one field is replaced.
  private static func line(
    conversation: String = "c", id: String = "n", sender: String = "s", text: String = "t"
  ) -> String {
    #"{"conversation":"\#(conversation)","id":"\#(id)","sender":"\#(sender)","text":"\#(text)","#
      + #""timestamp_ms":2}"#
  }

  private static func line(_ fields: String) -> String {
    #"{"conversation":"c","id":"m","sender":"s","timestamp_ms":1,\#(fields)}"#
  }

  private static let long = String(repeating: "é", count: 128)

  static let badLines: [(name: String, line: String, reason: String)] = [
    ("no JSON", "hello", "byte 1: expected '{'"),
    ("a number", "42", "byte 1: expected '{'"),
    ("an array", "[1]", "byte 1: expected '{'"),
    ("half a line", #"{"conversation":"c","id":"n","#, "byte 30: "),
    ("no message", #"{"hello":1}"#, #"byte 2: unknown field "hello""#),
    ("no text", #"{"conversation":"c","id":"n","sender":"s"}"#, #"the field "text" is missing"#),
    ("a text that is null", line(#""text":null"#), #"the field "text" is null"#),
    ("an empty conversation id", line(conversation: ""), "a conversation id is empty"),
    ("an empty message id", line(id: ""), "a message id is empty"),
    ("an empty sender", line(sender: ""), "a member id is empty"),
    (
      "a long conversation id", line(conversation: long),
      "a conversation id has 256 bytes; the limit is 255"
    ),
    ("a long message id", line(id: long), "a message id has 256 bytes; the limit is 255"),
    ("a long sender", line(sender: long), "a member id has 256 bytes; the limit is 255"),
    (
      "an empty participant", #"{"kind":"conversation","id":"d","participants":[""]}"#,
      "a member id is empty"
    ),
    (
      "an answer to a long id", line(#""text":"t","reply_to":"\#(long)""#),
      "a message id has 256 bytes; the limit is 255"
    ),
    (
      "a long text", line(text: String(repeating: "é", count: 1 << 19) + "a"),
      "a text has 1048577 bytes; the limit is 1048576"
    ),
  ]

  @Test(arguments: badLines.indices)
  func badLinesAreNamedAndMakeNoStore(index: Int) throws {
    let (name, line, reason) = Self.badLines[index]
    try expectRefused(Data("\(Self.good)\n\n\(line)\n\(Self.line())\n".utf8), reason, name)
  }

  @Test(arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]])
  func invalidUTF8IsRefused(bytes: [UInt8]) throws {
    let begin = Array("\(Self.good)\n\n".utf8) + Array(#"{"text":""#.utf8)
    try expectRefused(
      Data(begin + bytes + Array(#"","conversation":"c"}"#.utf8)), "byte 10: not valid UTF-8",
      "\(bytes)")
  }

  @Test func theLongestOfEverythingIsTaken() throws {
    let directory = try TemporaryDirectory()
    let id = String(repeating: "é", count: 127) + "a"
    let text = String(repeating: "é", count: 1 << 19)
    let line = Self.line(conversation: id, id: id, sender: id, text: text)
    let run = try directory.run("restore", "-", "store", input: line)
    #expect(run.status == 0, "\(run.errorText)")
    let written = #"{"kind":"message","# + line.dropFirst().dropLast() + #","arrival":"history"}"#
    let isSame = try directory.run("export", "store").text.hasSuffix("\n\(written)\n")
    #expect(isSame)
  }

  private func expectRefused(_ input: Data, _ reason: String, _ name: String) throws {
    let directory = try TemporaryDirectory()
    let run = try ToolRun(["restore", "-", "store"], in: directory.url, input: input)
    #expect(run.status == 2 && run.output.isEmpty, "\(name)")
    #expect(run.errorText.hasPrefix("msgdump: line 3"), "\(name): \(run.errorText.prefix(300))")
    #expect(run.errorText.contains(reason), "\(name): \(run.errorText.prefix(300))")
    #expect(run.errorText.count { $0.isNewline } == 1, "\(name)")
    #expect(try directory.names == [], "\(name)")
  }
}
