import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing
import msgdump

/// `msgdump map` from the outside, and its page.
struct MapCommandTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "400").text
    try #require(try directory.run("restore", "-", "chat", input: sample).status == 0)
  }

  private func map(_ arguments: String...) throws -> HTMLDocument {
    let run = try ToolRun(["map", "chat", "-"] + arguments, in: directory.url)
    try #require(run.status == 0 && run.errorText == "", "\(run.errorText)")
    return try HTMLDocument(run.output)
  }

  /// Returns the rows of a table by its caption, as texts of their cells.
  private func rows(_ caption: String, _ page: HTMLDocument) -> [[String]] {
    guard
      let start = page.elements.firstIndex(where: { $0.name == "caption" && $0.text == caption })
    else { return [] }
    let depth = page.elements[start].path.count
    var rows: [[String]] = []
    for element in page.elements[(start + 1)...] {
      if element.path.count < depth { break }
      if element.name == "tr" { rows.append([]) }
      if element.name == "td" || element.name == "th", !rows.isEmpty {
        rows[rows.count - 1].append(element.text)
      }
    }
    return rows
  }

  @Test func thePageIsWellFormedAndComplete() throws {
    let page = try map()
    try page.expectSelfContained()
    try page.expectAccessible()
    #expect(
      page.texts("h2") == [
        "Summary", "Slots", "Pages by tree", "Fill by tree", "Free slots", "Log",
        "Conversations by size", "Packing",
      ])
    #expect(page.texts("h1") == ["Map of chat"])
    #expect(page.elements("rect", of: "k-messages").count > 3)
    #expect(!page.texts("p").contains { $0.contains("cannot be read") })
  }

  @Test func figuresAreThoseOfInfo() throws {
    let page = try map()
    let info = try directory.run("info", "chat").text.split(separator: "\n").map(String.init)
    func fact(_ name: String) -> String {
      let line = info.first { $0.hasPrefix(name + "  ") } ?? ""
      return line.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
    }
    let files = Dictionary(
      uniqueKeysWithValues: rows("The files", page).dropFirst().map { ($0[0], $0[1]) })
    func plain(_ name: String) -> String {
      (files[name] ?? "?").replacingOccurrences(of: ",", with: "")
    }
    #expect(plain("data file") == fact("data file"))
    #expect(plain("WAL file 0") == fact("WAL file 0"))
    #expect(plain("page size") == fact("page size"))
    #expect(plain("pages") == fact("pages"))
    #expect(plain("slots") == fact("slots"))
    #expect(plain("free slots") == fact("free slots"))
    #expect(plain("last LSN") == fact("last LSN"))
    #expect(page.texts("dd").last == fact("closed cleanly"))
    let trees = rows("Trees", page).dropFirst()
    #expect(trees.count > 5)
    for tree in trees {
      let line = try #require(info.first { $0.contains("  \(tree[0])  ") })
      let words = line.split(separator: " ").suffix(3).map(String.init)
      let figures = [tree[1], tree[6], tree[4]].map {
        $0.replacingOccurrences(of: ",", with: "")
      }
      #expect(words == figures, "\(tree)")
    }
  }

  @Test func conversationsAreNamedAndCounted() throws {
    let page = try map()
    let conversations = rows("Conversations by size", page).dropFirst()
    #expect(conversations.count == 12 && conversations.first?[0].hasPrefix("book-club") ?? false)
    #expect(conversations.contains { $0[0] == "family: Familie ❤️" && $0[1] == "7" })
    let counted = conversations.compactMap { Int($0[1].replacingOccurrences(of: ",", with: "")) }
    let all = try directory.run("messages", "chat", "--format", "jsonl").text
    #expect(counted.reduce(0, +) == all.split(separator: "\n").count)
    let packed = rows("Packing of messages", page).dropFirst()
    let sum = packed.compactMap { Int($0[1].replacingOccurrences(of: ",", with: "")) }
    let (packedCount, messageCount) = (sum.reduce(0, +), counted.reduce(0, +))
    #expect(packedCount == messageCount)
  }

  @Test func namesAreText() throws {
    let store = try MessageStore(path: directory.path("odd"))
    try store.write { chat in
      _ = try chat.createGroup(
        "<script>alert(1)</script>", participants: ["me"],
        title: "\"><img src=x onerror=alert(1)>\u{202e}'&")
      try chat.insert(
        Message(
          in: "<script>alert(1)</script>", from: "you", text: "secret",
          serverTimestamp: time(1)))
    }
    try store.close()
    let run = try directory.run("map", "odd", "-")
    let page = try HTMLDocument(run.output)
    try page.expectSelfContained()
    #expect(page.texts("bdi").contains { $0.hasPrefix("<script>alert(1)</script>: \"><img") })
    #expect(!run.text.contains("<script") && !run.text.contains("secret"))
  }

  @Test func aStoreInUseIsShownAsOpen() throws {
    let store = try MessageStore(path: directory.path("chat"))
    try store.write { chat in
      for index in 0..<500 { try chat.insert(message(MessageID("\(index)"), at: Int64(index))) }
    }
    let before = try directory.contents
    let page = try map()
    #expect(page.texts("p").contains { $0.hasPrefix("It is open") })
    #expect(rows("WAL files", page).dropFirst().contains { $0[2] != "0" })
    #expect(rows("Commits by size", page).count > 1)
    #expect(try directory.contents == before)
    try store.close()
  }

  @Test func anEmptyStoreHasAPage() throws {
    try MessageStore(path: directory.path("empty")).close()
    let run = try directory.run("map", "empty", "-")
    let page = try HTMLDocument(run.output)
    try page.expectSelfContained()
    try page.expectAccessible()
    #expect(page.texts("p").contains("The store has no messages."))
  }

  @Test func aDamagedPageIsShownAsUnreadable() throws {
    let slot = try damageLeaf()
    let page = try map()
    try page.expectSelfContained()
    #expect(page.texts("p").contains { $0.hasPrefix("1 page cannot be read") })
    #expect(page.texts("title").contains("slot \(slot): unreadable"))
    #expect(rows("Slots by kind", page).contains { $0[0] == "unreadable" && $0[1] == "1" })
    #expect(page.texts("h2").count == 8)
  }

  private func damageLeaf() throws -> Int {
    let file = directory.url.appendingPathComponent("chat")
    let pages = try directory.run("pages", "chat").text.split(separator: "\n")
    let leaf = try #require(pages.last { $0.contains("leaf") && $0.contains("messages") })
    let slot = try #require(Int(leaf.split(separator: " ")[1]))
    var bytes = try Data(contentsOf: file)
    bytes[2 * MetaSlot.regionByteCount + (slot - 1) * 4096 + 2000] ^= 1
    try bytes.write(to: file)
    return slot
  }

  @Test func aLargeStoreHasASmallPage() throws {
    // Random states are the worst there is: no two neighbours look the same.
    var random = SeededGenerator(seed: 16)
    let uses = SlotState.Use.allCases
    let states = (1...40_000).compactMap { slot -> SlotState? in
      guard random.chance(90), let use = uses.randomElement(using: &random) else { return nil }
      return SlotState(
        slot: UInt32(slot), use: random.chance(99) && use == .unreadable ? .leaf : use,
        tree: Int.random(in: 0..<16, using: &random),
        fill: Double.random(in: 0...1, using: &random))
    }
    var report = try Inspector(path: directory.path("chat")).layoutReport()
    report.pages.slots = states
    report.pages.file.slotCount = 40_000
    report.pages.file.freeSlotCount = 40_000 - states.count
    let long = String(repeating: "a long <title> ", count: 5000)
    let names = report.conversations.largest.map { ($0.number, long) }
    let page = MapPage(
      name: "large", layout: report, log: WALReport(),
      names: Dictionary(uniqueKeysWithValues: names))
    let output = Output()
    let writer = HTMLWriter { bytes throws(ToolError) in output.bytes += bytes }
    page.write(to: writer)
    try writer.finish()
    #expect(output.bytes.count < 1_000_000)
    let document = try HTMLDocument(Data(output.bytes))
    #expect(document.texts("p").contains { $0.contains("stands for 10 slots") })
    #expect(document.elements("rect").count < 4500)
  }

  private final class Output {
    var bytes: [UInt8] = []
  }

  // MARK: The file

  @Test func thePageIsWrittenUnderItsNameAlone() throws {
    let before = try directory.contents
    let run = try directory.run("map", "chat", "map.html")
    #expect(run.status == 0 && run.output.isEmpty && run.errorText == "")
    var after = try directory.contents
    #expect(after.removeValue(forKey: "map.html") == (try directory.run("map", "chat", "-")).output)
    #expect(after == before)
  }

  @Test func nothingIsOverwrittenUnlessAsked() throws {
    let file = directory.url.appendingPathComponent("map.html")
    try Data("precious".utf8).write(to: file)
    let run = try directory.run("map", "chat", "map.html")
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errorText == "msgdump: map.html already exists; --force replaces it\n")
    #expect(try Data(contentsOf: file) == Data("precious".utf8))
    #expect(try directory.run("map", "chat", "map.html", "--force").status == 0)
    _ = try HTMLDocument(Data(contentsOf: file))
  }

  @Test func theStoreIsNeverReplaced() throws {
    try FileManager.default.createSymbolicLink(
      atPath: directory.path("link"), withDestinationPath: directory.path("chat"))
    try FileManager.default.createDirectory(
      atPath: directory.path("folder"), withIntermediateDirectories: true)
    let before = try directory.contents
    for page in ["chat", "chat-wal0", "./chat", "link", "folder"] {
      let run = try directory.run("map", "chat", page, "--force")
      #expect(run.status == 2 && run.errorText.count { $0.isNewline } == 1, "\(run.errorText)")
    }
    let run = try directory.run("html", "chat", "./chat", "--conversation", "bob", "--force")
    #expect(run.status == 2 && run.errorText == "msgdump: ./chat is a file of the store\n")
    #expect(try directory.contents == before)
  }

  @Test func aFailureLeavesNothing() throws {
    try Data(repeating: 7, count: 50_000).write(to: directory.url.appendingPathComponent("other"))
    let before = try directory.contents
    for arguments in [
      ["map", "other", "page.html"], ["map", "missing", "page.html"],
      ["map", "chat", "nowhere/page.html"],
      ["html", "chat", "page.html", "--conversation", "nobody"],
      ["html", "chat", "page.html"],
      ["html", "chat", "page.html", "--conversation", "bob", "--since", "soon"],
    ] {
      let run = try ToolRun(arguments, in: directory.url)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errorText.count { $0.isNewline } == 1, "\(run.errorText)")
      #expect(try directory.contents == before)
    }
  }

  @Test func aPageThatFailsHalfwayLeavesNothing() throws {
    // The thread ends at a page that cannot be read, when much of it has been written.
    _ = try damageLeaf()
    let before = try directory.contents
    let run = try directory.run("html", "chat", "page.html", "--conversation", "book-club")
    #expect(run.status == 2 && run.errorText.contains("checksum mismatch"), "\(run.errorText)")
    #expect(try directory.contents == before)
  }
}
