import Foundation
import Simulation
import Testing

/// Real chat goes through a store without losing or changing a byte.
///
/// The corpus is not part of the package: it is looked for beside it, in `shared/data`, or where
/// `MSGSTORE_CORPUS` says. What comes out is compared with what went in by Foundation's reader of
/// JSON, which shares no code with the tool's.
struct CorpusTests {
  @Test(
    .enabled(
      if: Corpus.isThere,
      "shared/data/chat-corpus.jsonl.xz is not beside the package, or xz is not installed"))
  func everyMessageComesBackAsItWas() throws {
    let corpus = try #require(Corpus.file)
    let directory = try TemporaryDirectory()
    try Corpus.shell(
      "\(Corpus.slice) | tee lines | \"$2\" restore --lenient - store", corpus, directory)
    let check = try directory.run("check", "store")
    #expect(check.status == 0 && check.text.hasPrefix("fine: "), "\(check.text)")

    let lines = try Self.objects(Data(contentsOf: directory.url.appendingPathComponent("lines")))
    let expected = Self.inOrder(try lines.map { try CorpusMessage($0) })
    #expect(expected.count > Scale.count(debug: 10_000, release: 50_000))
    let export = try directory.run("export", "store")
    let exported = try Self.objects(export.output)
    let messages = exported.filter { $0["kind"] as? String == "message" }
    #expect(messages.count == expected.count)
    let differing = try zip(messages, expected).first { object, message in
      // Nor may there be a field that the corpus does not have, such as a status.
      try CorpusMessage(object) != message || !CorpusMessage.fields.isSuperset(of: object.keys)
    }
    #expect(differing == nil)

    let again = try ToolRun(["restore", "-", "again"], in: directory.url, input: export.output)
    #expect(again.status == 0)
    #expect(try directory.run("export", "again").output == export.output)
  }

  /// The objects of all lines, read at once: each line feed ends one, as none is within a string.
  private static func objects(_ data: Data) throws -> [[String: Any]] {
    let text = String(decoding: data.dropLast(), as: UTF8.self)
    let array = Data("[\(text.replacingOccurrences(of: "\n", with: ","))]".utf8)
    return try #require(try JSONSerialization.jsonObject(with: array) as? [[String: Any]])
  }

  /// Conversations as they appear; in each of them by time, and equal times by the bytes of the id.
  private static func inOrder(_ messages: [CorpusMessage]) -> [CorpusMessage] {
    var ranks: [[UInt8]: Int] = [:]
    for message in messages where ranks[message.conversation] == nil {
      ranks[message.conversation] = ranks.count
    }
    return messages.map { (ranks[$0.conversation] ?? 0, $0) }.sorted { a, b in
      if a.0 != b.0 { return a.0 < b.0 }
      if a.1.time != b.1.time { return a.1.time < b.1.time }
      return a.1.id.lexicographicallyPrecedes(b.1.id)
    }.map(\.1)
  }
}

/// A message of the corpus.
///
/// Bytes, since two strings may be equal and have different ones.
private struct CorpusMessage: Equatable {
  static let fields: Set = [
    "kind", "arrival", "conversation", "id", "sender", "text", "timestamp_ms", "reply_to",
  ]

  let conversation: [UInt8]
  let id: [UInt8]
  let sender: [UInt8]
  let text: [UInt8]
  let time: Int64
  let replyTo: [UInt8]?

  init(_ object: [String: Any]) throws {
    func bytes(_ field: String) throws -> [UInt8] {
      guard let string = object[field] as? String else { throw MissingField(name: field) }
      return Array(string.utf8)
    }
    conversation = try bytes("conversation")
    id = try bytes("id")
    sender = try bytes("sender")
    text = try bytes("text")
    guard let number = object["timestamp_ms"] as? NSNumber else {
      throw MissingField(name: "timestamp_ms")
    }
    time = number.int64Value
    replyTo = object["reply_to"] == nil ? nil : try bytes("reply_to")
  }

  private struct MissingField: Error {
    let name: String
  }
}

/// Where the corpus is.
enum Corpus {
  /// The beginning, which is one long thread, and every tenth line of the rest, which has the other
  /// languages and thousands of conversations: about 62,000 lines, and 14,000 in a debug build.
  static let slice =
    Scale.isFull
    ? #"xz -dc "$1" | LC_ALL=C awk 'NR <= 20000 || NR % 10 == 0'"#
    : #"xz -dc "$1" | LC_ALL=C awk 'NR <= 3000 || NR % 40 == 0'"#

  /// Runs a line of the shell's, whose first arguments are the corpus and the tool.
  static func shell(_ script: String, _ corpus: URL, _ directory: TemporaryDirectory) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", script, "sh", corpus.path, ToolRun.products.appendingPathComponent("msgdump").path,
    ]
    process.currentDirectoryURL = directory.url
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  static let file: URL? = {
    if let path = ProcessInfo.processInfo.environment["MSGSTORE_CORPUS"] {
      return URL(fileURLWithPath: path)
    }
    var directory = URL(fileURLWithPath: #filePath)
    while directory.path != "/" {
      directory.deleteLastPathComponent()
      let file = directory.appendingPathComponent("shared/data/chat-corpus.jsonl.xz")
      if FileManager.default.fileExists(atPath: file.path) { return file }
    }
    return nil
  }()

  static var isThere: Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let hasXZ = path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/xz")
    }
    return hasXZ && file.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
  }
}
