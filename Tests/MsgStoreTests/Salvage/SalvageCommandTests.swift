import Foundation
import PageFile
import Testing

/// `msgdump salvage` from the outside.
struct SalvageCommandTests {
  private let directory: TemporaryDirectory
  /// What the store has before it is damaged.
  private let exported: String

  init() throws {
    directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "300").text
    try #require(try directory.run("restore", "-", "chat", input: sample).status == 0)
    exported = try directory.run("export", "chat").text
  }

  private func damage(_ range: Range<Int>) throws {
    let file = directory.url.appendingPathComponent("chat")
    var bytes = try Data(contentsOf: file)
    bytes.replaceSubrange(range, with: range.map { UInt8(truncatingIfNeeded: $0 &* 13 &+ 5) })
    try bytes.write(to: file)
  }

  @Test func nothingIsLostOfAnUndamagedStore() throws {
    let before = try directory.contents
    let run = try directory.run("salvage", "chat", "new")
    #expect(run.status == 0 && run.errorText == "")
    #expect(
      run.text.hasSuffix(
        "in 12 conversations\noutbox: 5 entries saved, held\nnothing is lost\n"), "\(run.text)")
    #expect(try directory.run("export", "new").text == exported)
    #expect(try directory.run("check", "new").status == 0)
    let after = try directory.contents
    #expect(before.allSatisfy { after[$0.key] == $0.value })
    #expect(after.keys.sorted() == (before.keys + ["new", "new-wal0", "new-wal1"]).sorted())
  }

  @Test func whatIsLostIsListed() throws {
    let pages = try directory.run("pages", "chat").text.split(separator: "\n")
    let leaf = try #require(pages.last { $0.contains("leaf") && $0.contains("messages") })
    let fields = leaf.split(separator: " ")
    let (number, slot) = (fields[0], try #require(Int(fields[1])))
    let start = 2 * MetaSlot.regionByteCount + (slot - 1) * 4096
    try damage(start..<start + 4096)
    let before = try directory.contents
    let run = try directory.run("salvage", "chat", "new")
    #expect(run.status == 1 && run.errorText == "")
    let lines = run.text.split(separator: "\n")
    #expect(
      lines[0].hasPrefix("lost page \(number) in slot \(slot), a leaf of the tree messages from"),
      "\(lines[0])")
    #expect(lines[0].hasSuffix(": checksum mismatch"))
    #expect(lines.contains { $0.hasPrefix("conversation \"") && $0.hasSuffix(" messages saved") })
    #expect(lines.last?.hasPrefix("lost: at least ") ?? false)
    #expect(try directory.run("check", "new").status == 0)
    let after = try directory.contents
    #expect(before.allSatisfy { after[$0.key] == $0.value })
  }

  @Test func aStoreWithoutMetaSlotsIsSaved() throws {
    for index in 0..<2 {
      let start = MetaSlot.offset(of: index)
      try damage(start..<start + MetaSlot.byteCount)
    }
    #expect(try directory.run("check", "chat").status == 2)
    let run = try directory.run("salvage", "chat", "new")
    #expect(run.status == 1)
    #expect(run.text.hasPrefix("meta slot 0 cannot be read\nmeta slot 1 cannot be read\n"))
    #expect(try directory.run("export", "new").text == exported)
  }

  @Test func nothingIsEverOverwritten() throws {
    try Data("precious".utf8).write(to: directory.url.appendingPathComponent("other"))
    let names = try directory.names
    let before = try directory.contents
    for (new, reason) in [
      ("other", "other already exists; salvage only makes new stores"),
      ("chat", "chat is a file of the damaged store"),
      ("chat-wal1", "chat-wal1 is a file of the damaged store"),
    ] {
      let run = try directory.run("salvage", "chat", new)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errorText == "msgdump: \(reason)\n")
    }
    for (arguments, reason) in [
      (["salvage", "nowhere", "new"], "nowhere: open: "),
      (["salvage", "other", "new"], "other: not a data file of this format"),
      (["salvage", "chat"], "Missing expected argument"),
    ] {
      let run = try ToolRun(arguments, in: directory.url)
      #expect(run.status == 2 && run.errorText.contains(reason), "\(run.errorText)")
    }
    #expect(try directory.names == names)
    #expect(try directory.contents == before)
  }
}
