import Foundation
import MsgStore
import PageFile
import Simulation
import Testing
import msgdump

/// Keys of the tool, in a build without a cipher: its own tests are in `Encryption/`.
struct KeyCommandTests {
  private let digits = String(repeating: "0aF9", count: 16)
  private let bytes: [UInt8] = (0..<32).map { $0 % 2 == 0 ? 0x0A : 0xF9 }

  @Test func aKeyIs32BytesOr64Digits() throws {
    #expect(try AppKeyText.key(of: bytes, from: "k") == bytes)
    for text in [digits, digits + "\n", "  \(digits)\r\n"] {
      #expect(try AppKeyText.key(of: Array(text.utf8), from: "k") == bytes, "\(text)")
    }
    // 32 bytes are a key whatever they are.
    let blanks = [UInt8](repeating: 32, count: 32)
    #expect(try AppKeyText.key(of: blanks, from: "k") == blanks)
  }

  @Test(arguments: [0, 1, 31, 33, 63, 65, 128, 256]) func otherLengthsGetASentence(_ count: Int) {
    let size = count == 256 ? "256 bytes or more" : "\(count) bytes"
    #expect(
      throws: ToolError.failure(
        "k: not a key (\(size) instead of 32, or of 64 hexadecimal digits)")
    ) { try AppKeyText.key(of: [UInt8](repeating: 7, count: count), from: "k") }
  }

  @Test func textThatIsNoNumberGetsASentence() {
    #expect(throws: ToolError.self) {
      try AppKeyText.key(of: Array((digits.dropLast() + "g").utf8), from: "k")
    }
  }

  @Test func withoutACipherTheToolSaysSo() throws {
    let directory = try TemporaryDirectory()
    var options = StoreOptions()
    options.encryption = SealSource(seed: 5).encryption
    let store = try MessageStore(path: directory.path("sealed"), options: options)
    try store.close()
    try Data(digits.utf8).write(to: directory.url.appendingPathComponent("key"))
    let before = try directory.contents
    let words =
      "this msgdump has no cipher for encrypted stores; build it with the trait Encryption"
    for arguments in [
      ["encrypt", "sealed", "new", "--key-file", "key"], ["encrypt", "sealed", "new"],
      ["decrypt", "sealed", "new", "--key-file", "key"], ["decrypt", "sealed", "new"],
      ["change-key", "sealed", "--key-file", "key", "--new-key-file", "key"],
      ["info", "sealed", "--key-file", "key"],
    ] {
      let run = try ToolRun(arguments, in: directory.url)
      #expect(run.status == 2 && run.errorText == "msgdump: \(words)\n", "\(run.errorText)")
    }
    for command in ["info", "check", "export"] {
      let run = try ToolRun([command, "sealed"], in: directory.url)
      #expect(run.status == 2)
      #expect(run.errorText.hasSuffix("sealed: encrypted; \(words)\n"), "\(run.errorText)")
    }
    let run = try directory.run("salvage", "sealed", "new")
    #expect(run.status == 2 && run.errorText.hasSuffix("\(words)\n"), "\(run.errorText)")
    #expect(try directory.contents == before)
  }

  /// Keys that cannot be read, before the build's cipher matters.
  @Test func aFileThatHoldsNoKeyGetsASentence() throws {
    let directory = try TemporaryDirectory()
    #expect(try directory.run("restore", "-", "chat").status == 0)
    try Data().write(to: directory.url.appendingPathComponent("empty"))
    try FileManager.default.createDirectory(
      at: directory.url.appendingPathComponent("folder"), withIntermediateDirectories: false)
    for (file, words) in [
      ("empty", "empty: not a key (0 bytes instead of 32, or of 64 hexadecimal digits)"),
      ("missing", "cannot open missing: No such file or directory"),
      ("folder", "cannot read folder: Is a directory"),
    ] {
      let run = try directory.run("info", "chat", "--key-file", file)
      #expect(run.status == 2 && run.errorText == "msgdump: \(words)\n", "\(run.errorText)")
    }
  }
}
