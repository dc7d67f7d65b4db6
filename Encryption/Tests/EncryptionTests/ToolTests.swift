import Foundation
import MsgStore
import PageFile
import SealedPages
import Testing

/// `msgdump` on encrypted stores, from the outside.
struct ToolTests {
  private let directory: TemporaryDirectory
  /// What the store has, as its export says.
  private let exported: String

  private static var tool: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
      return tests.bundleURL.deletingLastPathComponent().appendingPathComponent("msgdump")
    #else
      return Bundle.main.bundleURL.appendingPathComponent("msgdump")
    #endif
  }

  private func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) throws -> Run {
    try Run(
      Self.tool, arguments, in: directory.url, input: input, environment: environment)
  }

  /// A plain store `chat`, an encrypted one `sealed`, and keys in files.
  init() throws {
    let directory = try TemporaryDirectory()
    self.directory = directory
    func write(_ name: String, _ bytes: [UInt8]) throws {
      try Data(bytes).write(to: directory.url.appendingPathComponent(name))
    }
    try write("key", TestKey.bytes)
    try write("key.hex", Array((TestKey.hex.uppercased() + "\n").utf8))
    try write("other", [UInt8](repeating: 7, count: 32))
    try write("short", [UInt8](TestKey.bytes.dropLast()))
    let url = directory.url
    func run(_ arguments: String..., input: String = "") throws -> String {
      let run = try Run(Self.tool, arguments, in: url, input: input)
      try #require(run.status == 0, "\(run.errorText)")
      return run.text
    }
    _ = try run("restore", "-", "chat", input: run("sample", "--messages", "400"))
    exported = try run("export", "chat")
    _ = try run("encrypt", "chat", "sealed", "--key-file", "key")
  }

  private func expectFailure(_ words: String, _ run: Run) {
    #expect(run.status == 2 && run.errorText == "msgdump: \(words)\n", "\(run.errorText)")
  }

  @Test func encryptedStoresAreReadWithTheKeyInEachForm() throws {
    #expect(!exported.isEmpty)
    #expect(try run("export", "chat").text == exported, "the plain store stays")
    for file in ["key", "key.hex"] {
      #expect(try run("export", "sealed", "--key-file", file).text == exported)
    }
    let environment = ["MSGSTORE_KEY": TestKey.hex]
    #expect(try run("export", "sealed", environment: environment).text == exported)
    let check = try run("check", "sealed", "--key-file", "key")
    #expect(check.status == 0 && check.text.hasPrefix("fine: "), "\(check.errorText)")
    let info = try run("info", "sealed", "--key-file", "key").text
    #expect(info.contains("encrypted") && info.contains("key number"), "\(info)")
    let plainInfo = try run("info", "chat").text
    #expect(!plainInfo.contains("encrypted"))
    let found = try run("wal", "sealed", "--key-file", "key")
    #expect(found.status == 0, "\(found.errorText)")
  }

  @Test func whatIsWrittenFromAnEncryptedStoreIsEncrypted() throws {
    for command in ["compact", "backup", "salvage"] {
      let new = "new-\(command)"
      let made = try run(command, "sealed", new, "--key-file", "key")
      #expect(made.status == 0, "\(made.errorText)")
      expectFailure(
        "\(directory.path(new)): encrypted; give the key with --key-file", try run("info", new))
      #expect(try run("check", new, "--key-file", "key").status == 0)
      if command != "salvage" {
        #expect(try run("export", new, "--key-file", "key").text == exported)
      }
    }
    let restored = try run("restore", "-", "restored", "--key-file", "key", input: exported)
    #expect(restored.status == 0, "\(restored.errorText)")
    #expect(try run("info", "restored").status == 2)
    let decrypted = try run("decrypt", "sealed", "plain", "--key-file", "key")
    #expect(decrypted.status == 0, "\(decrypted.errorText)")
    #expect(try run("export", "plain").text == exported)
  }

  @Test func theKeyIsChangedInPlace() throws {
    let changed = try run("change-key", "sealed", "--key-file", "key", "--new-key-file", "other")
    #expect(changed.status == 0, "\(changed.errorText)")
    expectFailure(
      "\(directory.path("sealed")): encrypted with another key",
      try run("info", "sealed", "--key-file", "key"))
    #expect(try run("export", "sealed", "--key-file", "other").text == exported)
    let info = try run("info", "sealed", "--key-file", "other").text
    #expect(
      info.split(separator: "\n").contains { $0.hasPrefix("key number") && $0.hasSuffix("2") },
      "\(info)")
  }

  @Test func eachErrorIsASentenceAndChangesNothing() throws {
    let before = try directory.contents
    let sealed = directory.path("sealed")
    expectFailure(
      "\(sealed): encrypted; give the key with --key-file", try run("export", "sealed"))
    expectFailure(
      "\(sealed): encrypted with another key", try run("export", "sealed", "--key-file", "other"))
    expectFailure(
      "\(directory.path("chat")): not encrypted, although a key was given",
      try run("export", "chat", "--key-file", "key"))
    let noKey = "not a key (31 bytes instead of 32, or of 64 hexadecimal digits)"
    expectFailure("short: \(noKey)", try run("info", "sealed", "--key-file", "short"))
    expectFailure(
      "the variable MSGSTORE_KEY: not a key (5 bytes instead of 32, or of 64 hexadecimal digits)",
      try run("info", "sealed", environment: ["MSGSTORE_KEY": "hello"]))
    expectFailure(
      "the key is missing: give it with --key-file", try run("encrypt", "chat", "new"))
    expectFailure(
      "the key is missing: give it with --key-file", try run("decrypt", "sealed", "new"))
    expectFailure(
      "short: \(noKey)", try run("encrypt", "chat", "new", "--key-file", "short"))
    expectFailure(
      "\(sealed): encrypted; give the key with --key-file",
      try run("encrypt", "sealed", "new", "--key-file", "key"))
    expectFailure(
      "sealed already exists; encrypt only makes new stores",
      try run("encrypt", "chat", "sealed", "--key-file", "key"))
    expectFailure(
      "sealed-wal0 is a file of the store",
      try run("decrypt", "sealed", "sealed-wal0", "--key-file", "key"))
    expectFailure(
      "\(sealed): encrypted with another key",
      try run("change-key", "sealed", "--key-file", "other", "--new-key-file", "key"))
    expectFailure(
      "short: \(noKey)",
      try run("change-key", "sealed", "--key-file", "key", "--new-key-file", "short"))
    expectFailure(
      "missing: no such store",
      try run("change-key", "missing", "--key-file", "key", "--new-key-file", "other"))
    let after = try directory.contents
    #expect(after.keys.sorted() == before.keys.sorted())
    #expect(after == before)
  }

  /// The copy is made beside its place; what is there and is no such copy is not removed.
  @Test func aFileInTheWayOfACopyStays() throws {
    try Data("remains".utf8).write(to: directory.url.appendingPathComponent("new.partial"))
    let before = try directory.contents
    let run = try run("encrypt", "chat", "new", "--key-file", "key")
    #expect(run.status == 2 && run.errorText.contains("new.partial"), "\(run.errorText)")
    #expect(try directory.contents == before)
  }

  /// Starts `msgdump encrypt` and kills it after a while.
  private func killEncrypting(_ store: String, to new: String, after delay: Double) throws {
    let process = Process()
    process.executableURL = Self.tool
    process.arguments = ["encrypt", store, new, "--key-file", "key"]
    process.currentDirectoryURL = directory.url
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    usleep(UInt32(delay * 1_000_000))
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Whoever is killed in the middle leaves the plain store as it was, no store that is not whole,
  /// and nothing in the way of the next try.
  @Test func aKilledEncryptionLeavesTheOldStoreAlone() throws {
    let sample = try run("sample", "--messages", "4000").text
    try #require(try run("restore", "-", "large", input: sample).status == 0)
    let expected = try run("export", "large").text
    func plainFiles() throws -> [String: Data] {
      try directory.contents.filter { $0.key.hasPrefix("large") }
    }
    let files = try plainFiles()
    let start = Date()
    try #require(try run("encrypt", "large", "whole", "--key-file", "key").status == 0)
    let duration = Date().timeIntervalSince(start)
    var cutCount = 0
    for kill in 0..<5 {
      let new = "cut\(kill)"
      try killEncrypting(
        "large", to: new, after: duration * (Double(kill) + .random(in: 0...1)) / 5)
      let isWhole = FileManager.default.fileExists(atPath: directory.path(new))
      cutCount += isWhole ? 0 : 1
      let areSame = try plainFiles() == files
      #expect(areSame)
      if isWhole { try FileManager.default.removeItem(atPath: directory.path(new)) }
      let again = try run("encrypt", "large", new, "--key-file", "key")
      #expect(again.status == 0, "\(again.errorText)")
      let isSame = try run("export", new, "--key-file", "key").text == expected
      #expect(isSame)
      #expect(try directory.contents.keys.filter { $0.hasPrefix(new) } == [new])
    }
    print("killed before the end: \(cutCount) of 5 (\(Int(duration * 1000)) ms)")
    #expect(cutCount > 0)
  }
}
