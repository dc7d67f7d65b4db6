import Foundation
import Testing

/// Messages from people's own files go through the benchmark, whatever their order, times, and
/// texts.
struct CorpusFileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("msgstore-corpus-\(UUID().uuidString)")

  /// Runs the benchmark on lines, and returns its status and what it has written.
  private func run(
    _ lines: [String], _ workloads: String
  ) throws -> (status: Int32, output: String, errors: String) {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("corpus.jsonl")
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
    let (output, errors) = (
      folder.appendingPathComponent("output"), folder.appendingPathComponent("errors")
    )
    for file in [output, errors] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = Self.products.appendingPathComponent("msgstore-bench")
    process.arguments = [
      "--corpus", file.path, "--directory", folder.path, "--rounds", "1", "--engines",
      "msgstore,sqlite", "--workloads", workloads,
    ]
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: try Data(contentsOf: output), as: UTF8.self),
      String(decoding: try Data(contentsOf: errors), as: UTF8.self)
    )
  }

  /// The folder of the built tools, which is that of the tests.
  private static let products =
    Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    .deletingLastPathComponent() ?? Bundle.main.bundleURL

  private func line(
    _ conversation: String, _ id: String, at milliseconds: Int64, text: String = "hello",
    replyTo: String? = nil
  ) -> String {
    let reply = replyTo.map { #","reply_to":"\#($0)""# } ?? ""
    return #"{"conversation":"\#(conversation)","id":"\#(id)","sender":"ann","#
      + #""timestamp_ms":\#(milliseconds),"text":"\#(text)"\#(reply)}"#
  }

  @Test func lateMessagesEqualTimesAndEmptyTextsGoIn() throws {
    var lines: [String] = []
    for number in 0..<60 {
      // Every fifth message is earlier than the one before, and all threads end at one time.
      let time = Int64(number % 5 == 4 ? number - 4 : number) * 1000
      for room in ["a", "b", "c"] {
        lines.append(
          line(
            room, "\(room)-\(number)", at: min(time, 50_000),
            text: number % 7 == 0 ? "" : "message \(number)",
            replyTo: number % 3 == 0 && number > 0 ? "\(room)-\(number - 1)" : nil))
      }
    }
    let run = try run(lines, "import,tail50-random,at-date,list20")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("list20"))
  }

  /// What a workload cannot do with the data is left out, and the others run.
  @Test(arguments: [1, 3, 60]) func aSingleThreadOfAnyLengthIsMeasured(count: Int) throws {
    let lines = (0..<count).map { line("a", "\($0)", at: Int64($0), text: "message \($0)") }
    let run = try run(
      lines,
      "import,tail50-huge,tail50-random,slice50,scroll50,at-date,get-by-id,list20,open-tail50,"
        + "mark-read-1000,edit")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("mark-read-1000: left out, as "), "\(run.errors)")
    #expect(run.output.contains("edit"))
  }

  @Test(arguments: [
    (#"{"conversation":"a","id":"2","sender":"s","text":"x"}"#, #"no time in "timestamp_ms""#),
    (
      #"{"conversation":"a","id":"2","sender":"s","text":"x","timestamp_ms":9223372036854775807}"#,
      #"no time in "timestamp_ms""#
    ),
    (
      #"{"conversation":"a","id":"1","sender":"s","text":"x","timestamp_ms":5}"#,
      #"the conversation has a message "1" already"#
    ),
    (#"{"conversation":"a","id":"2","timestamp_ms":5}"#, #"no string "sender""#),
    ("[]", "not a JSON object"),
  ])
  func aLineThatCannotBeUsedIsNamed(bad: String, words: String) throws {
    let run = try run([line("a", "1", at: 1), bad], "import")
    #expect(run.status != 0)
    #expect(run.errors.contains("line 2: \(words)"), "\(run.errors)")
  }
}
