import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Copies and removal of whole stores.
@Suite(.timeLimit(.minutes(30))) struct StoreFilesTests {
  private func fill(_ store: MessageStore, _ range: Range<Int>) throws {
    try store.write { chat in
      for number in range {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number), Int64(number)))
      }
    }
  }

  private func names(_ directory: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
  }

  @Test func aBackupIsTheStoreOfOneMoment() throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path("store"), directory.path("copy"))
    let options = StoreOptions(localMember: "me").makingConversations
    let store = try MessageStore(path: path, options: options)
    try fill(store, 0..<2000)
    try store.write { try $0.send(message("waiting", at: nil, from: "me")) }
    let before = try store.read { try $0.thread("room").tail(3000) }
    try store.backUp(to: copy) { _ in
      // Written in the middle of the copy, and not part of its moment.
      _ = try? store.write { try $0.insert(message("late", at: 9999)) }
    }
    #expect(try names(directory) == ["copy", "store", "store-wal0", "store-wal1"])
    let other = try MessageStore(path: copy, options: options)
    #expect(try other.check() == [])
    #expect(try other.read { try $0.thread("room").tail(3000) } == before)
    #expect(try other.read { try $0.outbox.counts() }.queued == 1)
    #expect(try store.check() == [])
    // The place is taken.
    #expect(throws: StoreError.self) { try store.backUp(to: copy) }
  }

  @Test func aBackupNeedNotBlockItsCaller() async throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path("store"), directory.path("copy"))
    let store = try MessageStore(path: path)
    try await store.write { try $0.insert(message("m", at: 1)) }
    try await store.backUp(to: copy)
    let other = try MessageStore(path: copy)
    #expect(try await other.read { try $0.conversation("room")?.messageCount } == 1)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.backUp(to: path + "-second")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try names(directory).filter { $0.contains("second") } == [])
  }

  @Test func aBackupThatEndsEarlyLeavesNothing() throws {
    struct Stop: Error {}
    let directory = try TemporaryDirectory()
    let store = try MessageStore(path: directory.path("store"))
    try fill(store, 0..<100)
    let before = try names(directory)
    #expect(throws: Stop.self) {
      try store.backUp(to: directory.path("copy")) { _ in throw Stop() }
    }
    #expect(try names(directory) == before)
    // A folder that is not there.
    #expect(throws: StoreError.self) { try store.backUp(to: directory.path("no/copy")) }
    #expect(try names(directory) == before)
  }

  @Test func aStoreIsRemovedWithAllItsFiles() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    #expect(try !MessageStore.remove(path: path))
    let store = try MessageStore(path: path)
    try fill(store, 0..<10)
    #expect(throws: StoreError.storage(.alreadyOpen(path: path))) {
      try MessageStore.remove(path: path)
    }
    #expect(try names(directory).count == 3)
    try store.close()
    #expect(try MessageStore.remove(path: path))
    #expect(try names(directory) == [])
    #expect(try MessageStore(path: path).read { try $0.conversations(count: 5) }.isEmpty)
  }

  @Test func aDamagedStoreIsRemovedAndAFileOfAnotherKindIsNot() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let store = try MessageStore(path: path)
    try fill(store, 0..<10)
    try store.close()
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: 100)
    try handle.write(contentsOf: Data(repeating: 7, count: 50))
    try handle.close()
    #expect(try MessageStore.remove(path: path))
    #expect(try names(directory) == [])

    try Data("my diary".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: StoreError.storage(.notADatabase(path: path))) {
      try MessageStore.remove(path: path)
    }
    #expect(try names(directory) == ["store"])
    // What a crash left of a removal.
    try FileManager.default.removeItem(atPath: path)
    try Data("rest".utf8).write(to: URL(fileURLWithPath: path + "-wal1"))
    #expect(try MessageStore.remove(path: path))
    #expect(try names(directory) == [])
  }
}
