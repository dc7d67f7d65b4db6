import Foundation
import MsgStore
import PageFile
import Testing

/// `msgdump compact` from the outside.
struct CompactCommandTests {
  private let directory: TemporaryDirectory
  /// What the store has before it is compacted.
  private let exported: String

  init() throws {
    directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "1500").text
    try #require(try directory.run("restore", "-", "chat", input: sample).status == 0)
    exported = try directory.run("export", "chat").text
  }

  private func byteCount(_ name: String) throws -> Int { try directory.contents[name]?.count ?? 0 }

  private func expectUnchanged(_ before: [String: Data], beside others: [String] = []) throws {
    let after = try directory.contents
    #expect(before.allSatisfy { after[$0.key] == $0.value })
    #expect(after.keys.sorted() == (before.keys + others).sorted())
  }

  @Test func aCompactedStoreHasTheSameExport() throws {
    let before = try directory.contents
    let run = try directory.run("compact", "chat", "new")
    #expect(run.status == 0 && run.errorText == "" && run.output.isEmpty)
    try expectUnchanged(before, beside: ["new", "new-wal0", "new-wal1"])
    #expect(try directory.run("export", "new").text == exported)
    let check = try directory.run("check", "new")
    #expect(check.status == 0 && check.text.hasPrefix("fine: "))
    // A leaf that is nearly full may become two, and a root above them.
    #expect(try byteCount("new") <= byteCount("chat") + 2 * 4096)
    // What is as small as it gets becomes no smaller.
    #expect(try directory.run("compact", "new", "again").status == 0)
    #expect(try byteCount("again") <= byteCount("new") * 101 / 100)
    #expect(try directory.run("export", "again").text == exported)
  }

  @Test func pagesKeepTheirSize() throws {
    let path = directory.path("large")
    let store = try MessageStore(path: path, options: StoreOptions(pageByteCount: 16384))
    try store.write { chat in
      for index in 0..<300 { try chat.insert(message(MessageID("\(index)"), at: Int64(index))) }
    }
    try store.close()
    #expect(try directory.run("compact", "large", "new").status == 0)
    let info = try directory.run("info", "new").text
    #expect(info.contains("16384 bytes"), "\(info)")
    #expect(
      try directory.run("export", "new").text == directory.run("export", "large").text)
  }

  @Test func aStoreInUseIsCopiedAsItIs() throws {
    let store = try MessageStore(path: directory.path("chat"))
    try store.write { chat in
      for index in 0..<2000 { try chat.insert(message(MessageID("\(index)"), at: Int64(index))) }
      for index in 0..<1900 { _ = try chat.delete(MessageID("\(index)"), in: "room") }
    }
    let before = try directory.contents
    let run = try directory.run("compact", "chat", "new")
    #expect(run.status == 0 && run.errorText == "")
    try expectUnchanged(before, beside: ["new", "new-wal0", "new-wal1"])
    let export = try directory.run("export", "chat").text
    #expect(export != exported)
    #expect(try directory.run("export", "new").text == export)
    try store.close()
  }

  @Test func nothingIsEverOverwritten() throws {
    try Data("precious".utf8).write(to: directory.url.appendingPathComponent("other"))
    try Data("half".utf8).write(to: directory.url.appendingPathComponent("half.compacting"))
    let before = try directory.contents
    for (store, new, reason) in [
      ("chat", "other", "other already exists; compact only makes new stores"),
      ("chat", "chat", "chat is a file of the store"),
      ("chat", "chat-wal1", "chat-wal1 is a file of the store"),
      (
        "chat", "half",
        "half.compacting: not the remains of a compact; remove it"
      ),
      ("chat", "nowhere/new", "nowhere: no such folder"),
    ] {
      let run = try directory.run("compact", store, new)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errorText == "msgdump: \(reason)\n")
      try expectUnchanged(before)
    }
  }

  @Test func whatIsNoStoreLeavesNothing() throws {
    try Data(repeating: 7, count: 50_000).write(to: directory.url.appendingPathComponent("other"))
    let before = try directory.contents
    for store in ["other", "missing"] {
      let run = try directory.run("compact", store, "new")
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errorText.count { $0.isNewline } == 1, "\(run.errorText)")
      try expectUnchanged(before)
    }
  }

  @Test func aDamagedStoreLeavesNothing() throws {
    let file = directory.url.appendingPathComponent("chat")
    let pages = try directory.run("pages", "chat").text.split(separator: "\n")
    let leaf = try #require(pages.last { $0.contains("leaf") && $0.contains("messages") })
    let slot = try #require(Int(leaf.split(separator: " ")[1]))
    var bytes = try Data(contentsOf: file)
    bytes[2 * MetaSlot.regionByteCount + (slot - 1) * 4096 + 2000] ^= 1
    try bytes.write(to: file)
    let before = try directory.contents
    let run = try directory.run("compact", "chat", "new")
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(
      run.errorText.hasPrefix("msgdump: page ")
        && run.errorText.hasSuffix("slot \(slot): checksum mismatch\n"), "\(run.errorText)")
    try expectUnchanged(before)
  }
}
