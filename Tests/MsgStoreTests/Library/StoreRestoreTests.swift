import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Restores by the library, on a disk.
@Suite(.timeLimit(.minutes(30))) struct StoreRestoreTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try Data(sampleLines(messageCount: 700)).write(
      to: directory.url.appendingPathComponent("lines"))
  }

  private func exported(_ name: String) throws -> [UInt8] {
    let store = try MessageStore(path: directory.path(name))
    defer { try? store.close() }
    return try store.lines()
  }

  @Test func theLibraryMakesTheSameStoreAsTheTool() throws {
    let summary = try MessageStore.restore(
      from: directory.path("lines"), to: directory.path("chat"))
    let run = try directory.run("restore", "lines", "other")
    #expect(
      run.text == "restored: \(summary.messageCount) messages in "
        + "\(summary.conversationCount) conversations\n")
    #expect(try exported("chat") == exported("other"))
    #expect(try directory.names.contains("chat-wal0"))
    #expect(try !directory.names.contains { $0.contains("restoring") })
    // From an export, the store is made again.
    try Data(exported("chat")).write(to: directory.url.appendingPathComponent("again"))
    try MessageStore.restore(from: directory.path("again"), to: directory.path("third"))
    #expect(try exported("third") == exported("chat"))
  }

  @Test func progressGrowsToTheTotal() throws {
    var calls: [RestoreProgress] = []
    let summary = try MessageStore.restore(
      from: directory.path("lines"), to: directory.path("chat")
    ) { calls.append($0) }
    #expect(summary.messageCount > 700)
    #expect(calls.count > 5 && calls.first == calls.first { $0.byteCount == 0 })
    for (a, b) in zip(calls, calls.dropFirst()) {
      #expect(a.lineCount <= b.lineCount && a.byteCount <= b.byteCount)
      #expect(a.stage == b.stage || b.stage == .compacting)
      #expect(a.totalByteCount == b.totalByteCount)
    }
    let last = try #require(calls.last)
    let lines = try Data(contentsOf: directory.url.appendingPathComponent("lines"))
    #expect(last.stage == .compacting && last.totalByteCount == lines.count)
    #expect(last.byteCount == lines.count && last.lineCount == lines.count { $0 == 0x0a })
  }

  @Test func aRestoreThatEndsEarlyLeavesNothing() throws {
    // More lines than one commit takes.
    let lines = (0..<510).map { number in
      #"{"conversation":"c","id":"\#(number)","sender":"s","text":"t","timestamp_ms":\#(number)}"#
    }
    try Data(lines.joined(separator: "\n").utf8).write(
      to: directory.url.appendingPathComponent("lines"))
    try expectNothingLeft(in: directory) { tick in
      try MessageStore.restore(from: directory.path("lines"), to: directory.path("chat")) { _ in
        try tick()
      }
    }
    #expect(try directory.names.contains("chat"))
  }

  @Test func aRestoreNeedNotBlockItsCaller() async throws {
    let (lines, path) = (directory.path("lines"), directory.path("chat"))
    let summary = try await MessageStore.restore(from: lines, to: path)
    #expect(summary.messageCount > 700)
    let names = try directory.names
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await MessageStore.restore(from: lines, to: path + "-second")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    // Cancelled while it reads empty lines without end.
    let reading = Task {
      try await MessageStore.restore(to: path + "-second", reading: { Array("\n".utf8) })
    }
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(try directory.names == names)
  }

  @Test func aMalformedLineIsNamedAndLeavesNothing() throws {
    let before = try directory.names
    let text = #"{"conversation":"c","id":"m","sender":"s","text":"t","timestamp_ms":1}"# + "\n"
    for (bad, column, reason) in [
      (#"{"conversation":7}"#, 17, "expected a string"),
      (text, nil as Int?, "the message id \"m\" is already present"),
    ] {
      var pieces = [Array((text + "\n" + bad).utf8)]
      let error = #expect(throws: StoreToolError.self) {
        try MessageStore.restore(
          to: directory.path("chat"), reading: { pieces.popLast() ?? [] })
      }
      #expect(error == .malformedLine(line: 3, column: column, reason: reason))
    }
    #expect(throws: StoreError.self) {
      try MessageStore.restore(from: directory.path("nowhere"), to: directory.path("chat"))
    }
    #expect(throws: Stop.self) {
      try MessageStore.restore(to: directory.path("chat"), reading: { throw Stop() })
    }
    #expect(try directory.names == before)
  }

  @Test func linesComeInPiecesOfAnySize() throws {
    let lines = sampleLines(messageCount: 20)
    for byteCount in [1, 7, 300_000] {
      let path = directory.path("chat-\(byteCount)")
      var offset = 0
      try MessageStore.restore(
        to: path,
        reading: {
          let piece = lines[offset..<min(offset + byteCount, lines.count)]
          offset += piece.count
          return Array(piece)
        })
    }
    #expect(try exported("chat-1") == exported("chat-7"))
    #expect(try exported("chat-1") == exported("chat-300000"))
  }

  @Test func whatIsThereStaysAsItIs() throws {
    let precious = Data("precious".utf8)
    let path = directory.path("chat")
    for (name, error) in [
      ("chat", StoreToolError.alreadyExists(path: path, work: "restore")),
      ("chat-wal1", .alreadyExists(path: path + "-wal1", work: "restore")),
      ("chat.restoring", .notRemains(path: path + ".restoring", work: "restore")),
    ] {
      let file = directory.url.appendingPathComponent(name)
      try precious.write(to: file)
      #expect(throws: error) {
        try MessageStore.restore(from: directory.path("lines"), to: path)
      }
      #expect(try Data(contentsOf: file) == precious)
      try FileManager.default.removeItem(at: file)
    }
    // Created while the restore was under way, of which nothing is left then.
    #expect(throws: StoreToolError.createdMeanwhile(path: path)) {
      try MessageStore.restore(from: directory.path("lines"), to: path) { _ in
        try precious.write(to: URL(filePath: path))
      }
    }
    #expect(try directory.names == ["chat", "lines"])
    #expect(try Data(contentsOf: URL(filePath: path)) == precious)
  }

  @Test func twoRestoresToOnePlaceExcludeEachOther() throws {
    let (lines, path) = (directory.path("lines"), directory.path("chat"))
    var refusals: [StoreToolError?] = []
    try MessageStore.restore(from: lines, to: path) { done in
      // Before the first line there is no store yet.
      guard done.lineCount > 0 else { return }
      refusals.append(
        #expect(throws: StoreToolError.self) { try MessageStore.restore(from: lines, to: path) })
    }
    #expect(refusals.count > 2)
    #expect(refusals.allSatisfy { $0 == .inUse(path: path + ".restoring", work: "restore") })
    #expect(try MessageStore(path: path).check() == [])
  }

  @Test func optionsAreThoseOfTheTool() throws {
    let text = #"{"conversation":"c","id":"m","sender":"s","text":"t","timestamp_ms":1}"# + "\n"
    let lines =
      text + text + #"{"kind":"new","x":1}"# + "\n"
      + #"{"conversation":"c","id":"n","sender":"s","text":"t","timestamp_ms":9,"mood":1}"#
    var pieces = [Array(lines.utf8)]
    let path = directory.path("chat")
    let summary = try MessageStore.restore(
      to: path,
      options: RestoreOptions(isLenient: true, numbersFromOrder: true, localMember: "ann"),
      reading: { pieces.popLast() ?? [] })
    #expect(summary.messageCount == 2 && summary.conversationCount == 1)
    #expect(
      summary.repeatedRecordCount == 1 && summary.unknownLineCount == 1
        && summary.unknownFieldCount == 1)
    let store = try MessageStore(path: path, options: StoreOptions(localMember: "ann"))
    // The repeated message took a number, too.
    #expect(try store.read { try $0.thread("c").allMessages().map(\.sequence) } == [1, 3])
  }
}
