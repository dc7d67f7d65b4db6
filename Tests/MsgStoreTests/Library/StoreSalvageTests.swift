import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Salvages by the library, on a disk.
@Suite(.timeLimit(.minutes(30))) struct StoreSalvageTests {
  private let directory: TemporaryDirectory
  private let path: String
  private let exported: [UInt8]

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("chat")
    var pieces = [sampleLines(messageCount: 400)]
    try MessageStore.restore(to: path, reading: { pieces.popLast() ?? [] })
    let store = try MessageStore(path: path)
    exported = try store.lines()
    try store.close()
  }

  /// Destroys a leaf of the messages tree.
  private func damage() throws {
    let store = try SalvageSubject(
      SalvageSubject.names.reduce(into: [:]) { files, name in
        let file = name.replacing("store", with: "chat")
        files[name] = Array(try Data(contentsOf: directory.url.appendingPathComponent(file)))
      })
    let slot = try #require(store.slots(tree: SalvageSubject.messagesTree).last)
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes.replaceSubrange(store.range(of: slot), with: store.range(of: slot).map { UInt8($0 & 7) })
    try bytes.write(to: URL(filePath: path))
  }

  @Test func nothingIsLostOfASoundStore() throws {
    let before = try directory.contents
    let summary = try MessageStore.salvage(damaged: path, to: directory.path("new"))
    #expect(summary.isWhole && summary.lines.last == "nothing is lost")
    #expect(summary.lostPageCount == 0 && summary.lostRecordCount == 0)
    #expect(summary.lostMessageCount == 0 && summary.lostCommitCount == 0)
    let store = try MessageStore(path: directory.path("new"))
    #expect(try store.lines() == exported)
    #expect(try store.check() == [])
    #expect(try store.read { try $0.outbox.counts() }.total == summary.entryCount)
    try store.close()
    let after = try directory.contents
    #expect(before.allSatisfy { after[$0.key] == $0.value })
  }

  @Test func theLibrarySavesAndReportsTheSameAsTheTool() throws {
    try damage()
    let before = try directory.contents
    let summary = try MessageStore.salvage(damaged: path, to: directory.path("new"))
    let after = try directory.contents
    #expect(before.allSatisfy { after[$0.key] == $0.value })
    let run = try directory.run("salvage", "chat", "other")
    #expect(run.status == 1)
    #expect(run.text == summary.lines.map { $0 + "\n" }.joined())
    #expect(!summary.isWhole && summary.lostPageCount == 1 && summary.lostMessageCount > 0)
    #expect(summary.lines[0].hasPrefix("lost page "))
    let saved = try MessageStore(path: directory.path("new"))
    #expect(try saved.check() == [])
    var (messageCount, conversationCount) = (0, 0)
    try saved.read { snapshot in
      try snapshot.forEachConversation { conversation in
        messageCount += conversation.messageCount
        conversationCount += 1
      }
    }
    #expect(summary.messageCount == messageCount && messageCount > 0)
    #expect(summary.conversationCount == conversationCount)
    #expect(try saved.lines() == Array(directory.run("export", "other").output))
  }

  @Test func progressGrowsToTheTotalOfEachPhase() throws {
    try damage()
    var calls: [SalvageProgress] = []
    _ = try MessageStore.salvage(damaged: path, to: directory.path("new")) { calls.append($0) }
    for stage in [SalvageProgress.Stage.reading, .saving] {
      let calls = calls.filter { $0.stage == stage }
      #expect(calls.first?.pageCount == 0 && calls.count > 1)
      #expect(calls.map(\.pageCount) == calls.map(\.pageCount).sorted())
      #expect(Set(calls.map(\.totalPageCount)).count == 1)
      #expect(calls.last?.pageCount == calls.last?.totalPageCount)
      #expect((calls.last?.totalPageCount ?? 0) > 5)
    }
    let firstSaving = calls.firstIndex { $0.stage == .saving } ?? 0
    #expect(calls[firstSaving...].allSatisfy { $0.stage == .saving })
  }

  @Test func aSalvageThatEndsEarlyLeavesNothing() throws {
    try damage()
    try expectNothingLeft(in: directory) { tick in
      _ = try MessageStore.salvage(damaged: path, to: directory.path("new")) { _ in try tick() }
    }
    #expect(try directory.names.contains("new"))
  }

  @Test func aSalvageNeedNotBlockItsCaller() async throws {
    let new = directory.path("new")
    #expect(try await MessageStore.salvage(damaged: path, to: new).isWhole)
    let names = try directory.names
    let task = Task { [path] in
      while !Task.isCancelled { await Task.yield() }
      _ = try await MessageStore.salvage(damaged: path, to: new + "-second")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try directory.names == names)
  }

  @Test func aStoreThatChangesMeanwhileIsNotSaved() throws {
    let names = try directory.names
    #expect(throws: StoreToolError.changedMeanwhile(path: path)) {
      _ = try MessageStore.salvage(damaged: path, to: directory.path("new")) { done in
        guard done.stage == .saving, done.pageCount == 0 else { return }
        let store = try MessageStore(path: path)
        try store.write { try $0.insert(message("late", at: 1)) }
        try store.close()
      }
    }
    #expect(try directory.names == names)
  }

  @Test func whatIsThereStaysAsItIs() throws {
    try Data("precious".utf8).write(to: directory.url.appendingPathComponent("other"))
    let before = try directory.contents
    let other = directory.path("other")
    for (new, error) in [
      (other, StoreToolError.alreadyExists(path: other, work: "salvage")),
      (path, .fileOfSource(path: path, source: "the damaged store")),
      (path + "-wal1", .fileOfSource(path: path + "-wal1", source: "the damaged store")),
    ] {
      #expect(throws: error) { _ = try MessageStore.salvage(damaged: path, to: new) }
    }
    #expect(throws: StoreError.storage(.notADatabase(path: other))) {
      _ = try MessageStore.salvage(damaged: other, to: directory.path("new"))
    }
    #expect(throws: StoreError.self) {
      _ = try MessageStore.salvage(damaged: directory.path("no"), to: directory.path("new"))
    }
    #expect(try directory.contents == before)
  }
}
