import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Exports by the library, of a store on a disk.
@Suite(.timeLimit(.minutes(30))) struct StoreExportTests {
  private let directory: TemporaryDirectory
  private let store: MessageStore

  init() throws {
    directory = try TemporaryDirectory()
    let lines = sampleLines(messageCount: 2100)
    var pieces = [lines]
    try MessageStore.restore(to: directory.path("chat"), reading: { pieces.popLast() ?? [] })
    store = try MessageStore(path: directory.path("chat"))
  }

  private func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: directory.url.appendingPathComponent(name)))
  }

  @Test func theLibraryExportsTheSameLinesAsTheTool() throws {
    try store.export(to: directory.path("lines"))
    let tool = try directory.run("export", "chat")
    #expect(tool.status == 0 && !tool.output.isEmpty)
    #expect(try bytes("lines") == Array(tool.output))
    var pieces: [[UInt8]] = []
    try store.exportLines { pieces.append($0) }
    #expect(try bytes("lines") == pieces.flatMap { $0 })
    // Whole lines, in pieces that fit in memory.
    #expect(pieces.count > 3 && pieces.allSatisfy { $0.count < 128 << 10 && $0.last == 0x0a })
    #expect(try !directory.names.contains { $0.hasSuffix(".partial") })
  }

  @Test func progressGrowsToTheTotal() throws {
    var calls: [ExportProgress] = []
    try store.exportLines(of: ExportScope(), { _ in }, progress: { calls.append($0) })
    #expect(calls.count > 3)
    #expect(calls.first?.messageCount == 0 && calls.first?.conversationCount == 0)
    for (a, b) in zip(calls, calls.dropFirst()) {
      #expect(a.messageCount <= b.messageCount && a.conversationCount <= b.conversationCount)
      #expect(a.totalMessageCount == b.totalMessageCount)
    }
    var (messageCount, conversationCount) = (0, 0)
    try store.read { snapshot in
      try snapshot.forEachConversation { conversation in
        messageCount += conversation.messageCount
        conversationCount += 1
      }
    }
    let last = try #require(calls.last)
    #expect(last.messageCount == messageCount && last.totalMessageCount == messageCount)
    #expect(
      last.conversationCount == conversationCount
        && last.totalConversationCount == conversationCount)
  }

  @Test func anExportThatEndsEarlyLeavesNothing() throws {
    var copyCount = 0
    try expectNothingLeft(in: directory) { tick in
      try store.export(to: directory.path("lines")) { _ in try tick() }
      copyCount += 1
    }
    #expect(copyCount == 1)
    #expect(try directory.names.contains("lines"))
    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try store.exportLines { _ in throw Refusal() } }
  }

  @Test func anExportNeedNotBlockItsCaller() async throws {
    let path = directory.path("lines")
    try await store.export(to: path)
    #expect(try bytes("lines") == store.lines())
    let names = try directory.names
    let task = Task { [store] in
      while !Task.isCancelled { await Task.yield() }
      try await store.export(to: path + "-second")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let streaming = Task { [store] in
      while !Task.isCancelled { await Task.yield() }
      try await store.exportLines { _ in }
    }
    streaming.cancel()
    await #expect(throws: CancellationError.self) { try await streaming.value }
    #expect(try directory.names == names)
  }

  @Test func aFileThatExistsStaysAsItIs() throws {
    let precious = Data("precious".utf8)
    for (name, error) in [
      ("lines", StoreToolError.alreadyExists(path: directory.path("lines"), work: "export")),
      (
        "lines.partial",
        .notRemains(path: directory.path("lines.partial"), work: "export")
      ),
    ] {
      let file = directory.url.appendingPathComponent(name)
      try precious.write(to: file)
      #expect(throws: error) { try store.export(to: directory.path("lines")) }
      #expect(try Data(contentsOf: file) == precious)
      try FileManager.default.removeItem(at: file)
    }
    // No ordinary file.
    try FileManager.default.createDirectory(
      atPath: directory.path("lines.partial"), withIntermediateDirectories: false)
    #expect(throws: StoreToolError.self) { try store.export(to: directory.path("lines")) }
    #expect(throws: StoreToolError.noFolder(path: directory.path("no"))) {
      try store.export(to: directory.path("no/lines"))
    }
  }

  @Test func theRemainsOfAKilledExportAreWrittenOver() throws {
    let remains = Data(try store.lines() + store.lines())
    try remains.write(to: directory.url.appendingPathComponent("lines.partial"))
    try store.export(to: directory.path("lines"))
    #expect(try bytes("lines") == store.lines())
    #expect(try !directory.names.contains("lines.partial"))
  }

  @Test func twoExportsToOneFileExcludeEachOther() throws {
    let path = directory.path("lines")
    var refusals: [StoreToolError?] = []
    try store.export(to: path) { _ in
      refusals.append(
        #expect(throws: StoreToolError.self) { try store.export(to: path) })
    }
    #expect(refusals.count > 3)
    #expect(refusals.allSatisfy { $0 == .inUse(path: path + ".partial", work: "export") })
    #expect(try bytes("lines") == store.lines())
  }

  @Test func aFileCreatedMeanwhileStays() throws {
    let path = directory.path("lines")
    #expect(throws: StoreToolError.createdMeanwhile(path: path)) {
      try store.export(to: path) { _ in try Data("new".utf8).write(to: URL(filePath: path)) }
    }
    #expect(try bytes("lines") == Array("new".utf8))
    #expect(try !directory.names.contains("lines.partial"))
  }

  @Test func anExportIsOfOneMoment() throws {
    let before = try store.lines()
    var writeCount = 0
    var during: [UInt8] = []
    try store.exportLines(
      of: ExportScope(), { during += $0 },
      progress: { _ in
        writeCount += 1
        try store.write { try $0.insert(message(MessageID("late-\(writeCount)"), at: 1)) }
      })
    #expect(writeCount > 3 && during == before)
    #expect(try store.lines() != before)
  }
}
