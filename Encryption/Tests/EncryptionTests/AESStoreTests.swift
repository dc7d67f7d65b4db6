import Crypto
import Foundation
import MsgStore
import MsgStoreTools
import SealedPages
import Testing

@testable import PageFile

/// Stores under the cipher that apps use, by the interface that apps have.
struct AESStoreTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("chat")
  }

  private func open(
    _ encryption: Encryption?, mark: LSN? = nil, at path: String? = nil
  ) throws(StoreError) -> MessageStore {
    var options = StoreOptions(localMember: "me")
    options.encryption = encryption
    options.mark = mark
    return try MessageStore(path: path ?? self.path, options: options)
  }

  private func fill(_ store: MessageStore, _ range: Range<Int>) throws {
    try store.write { chat in
      for index in range {
        try chat.insert(
          Message(
            id: MessageID("message-\(index)"), in: "conversation", from: "a-member",
            text: "the text of message \(index)",
            serverTimestamp: Timestamp(microseconds: Int64(index)), sequence: Int64(index + 1)))
      }
    }
  }

  private func texts(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.thread("conversation").tail(10_000).map(\.text) }
  }

  @Test func aKeyMayComeInAnyFormAndOpensItsStoreOnly() throws {
    var store = try open(TestKey.first)
    try fill(store, 0..<100)
    try store.close()
    let forms = [
      Encryption.aes256 { TestKey.bytes }, .aes256 { Data(TestKey.bytes) },
      .aes256 { SymmetricKey(data: TestKey.bytes) },
    ]
    for form in forms {
      store = try open(form)
      #expect(try texts(store).count == 100)
      #expect(try store.check() == [])
      try store.close()
    }
    let before = try directory.contents
    #expect(throws: StoreError.storage(.keyMissing(path: path))) { try open(nil) }
    #expect(throws: StoreError.storage(.keyMissing(path: path))) {
      try open(.aes256 { nil as Data? })
    }
    #expect(throws: StoreError.storage(.wrongKey(path: path))) { try open(TestKey.second) }
    #expect(try directory.contents == before)
  }

  @Test(arguments: [0, 1, 16, 24, 31, 33, 64])
  func aKeyOfAnotherLengthIsRefusedAndChangesNothing(_ count: Int) throws {
    let bad = Encryption.aes256 { [UInt8](repeating: 1, count: count) }
    let error = StoreError.storage(.invalidKey(byteCount: count))
    #expect("\(error)".contains("the key has \(count) bytes instead of 32"))
    #expect(throws: error) { try open(bad) }
    #expect(try directory.contents.isEmpty)
    let store = try open(TestKey.first)
    try fill(store, 0..<10)
    #expect(throws: error) { try store.changeKey(to: bad) }
    #expect(throws: error) { try store.backUp(to: directory.path("copy"), encryption: bad) }
    try store.close()
    let before = try directory.contents
    #expect(throws: error) { try open(bad) }
    #expect(try directory.contents == before)
  }

  @Test func aStoreLivesThroughCrashesSuspensionsAndAChangedKey() throws {
    var encryption = TestKey.first
    var mark = LSN.zero
    for round in 0..<12 {
      let store = try open(encryption, mark: mark)
      #expect(try texts(store).count == 50 * round)
      try fill(store, 50 * round..<50 * round + 50)
      #expect(store.mark > mark)
      if round % 4 == 1 { try store.checkpoint() }
      if round == 5 {
        try store.changeKey(to: TestKey.second)
        encryption = TestKey.second
      }
      if round % 3 == 2 {
        try store.suspend()
        try store.resume()
        #expect(try texts(store).count == 50 * round + 50)
      }
      mark = store.mark
      // Without a close the files are as a crash of the process leaves them.
      if round % 2 == 0 { try store.close() } else { try store.suspend(checkpoints: false) }
    }
    #expect(throws: StoreError.storage(.wrongKey(path: path))) { try open(TestKey.first) }
    let store = try open(encryption, mark: mark)
    #expect(try store.check() == [])
    for (name, data) in try directory.contents {
      for word in ["the text of message", "message-1", "conversation", "a-member"] {
        #expect(data.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
      }
    }
  }

  @Test func copiesChangeBetweenPlainAndEncrypted() throws {
    let plain = try open(nil)
    try fill(plain, 0..<500)
    let (sealedPath, plainPath) = (directory.path("sealed"), directory.path("plain"))
    try plain.backUp(to: sealedPath, encryption: TestKey.first)
    let sealed = try open(TestKey.first, at: sealedPath)
    #expect(try texts(sealed) == texts(plain))
    #expect(try sealed.check() == [])
    try sealed.backUp(to: plainPath, encryption: nil)
    try sealed.close()
    #expect(try texts(open(nil, at: plainPath)) == texts(plain))
    let size = try directory.contents.mapValues(\.count)
    let (sealedByteCount, plainByteCount) = (
      try #require(size["sealed"]), try #require(size["plain"])
    )
    #expect(sealedByteCount * 100 <= plainByteCount * 106)
  }

  @Test func salvageNeedsTheKeyAndWritesUnderIt() throws {
    let store = try open(TestKey.first)
    try fill(store, 0..<300)
    try store.suspend(checkpoints: false)
    var data = try #require(try directory.contents["chat"])
    data.replaceSubrange(0..<min(32768, data.count), with: Data(count: min(32768, data.count)))
    try data.write(to: directory.url.appendingPathComponent("chat"))
    let new = directory.path("new")
    #expect(throws: StoreError.storage(.keyMissing(path: path))) {
      try MessageStore.salvage(damaged: path, to: new)
    }
    #expect(throws: StoreError.storage(.wrongKey(path: path))) {
      try MessageStore.salvage(damaged: path, to: new, encryption: TestKey.second)
    }
    let summary = try MessageStore.salvage(damaged: path, to: new, encryption: TestKey.first)
    #expect(summary.messageCount == 300)
    #expect(throws: StoreError.storage(.keyMissing(path: new))) { try open(nil, at: new) }
    #expect(try texts(open(TestKey.first, at: new)).count == 300)
  }

  @Test func everyFlippedByteShowsOrChangesNothing() throws {
    let store = try open(TestKey.first)
    try fill(store, 0..<40)
    try store.checkpoint()
    try fill(store, 40..<60)
    let expected = try texts(store)
    try store.suspend(checkpoints: false)
    let files = try directory.contents
    let copy = try TemporaryDirectory()
    for (name, bytes) in files {
      for offset in stride(from: 0, to: bytes.count, by: 1009) where bytes[offset] != 0 {
        for (name, bytes) in files {
          try bytes.write(to: copy.url.appendingPathComponent(name))
        }
        var flipped = bytes
        flipped[offset] ^= 1
        try flipped.write(to: copy.url.appendingPathComponent(name))
        guard let store = try? open(TestKey.first, at: copy.path("chat")),
          let texts = try? texts(store)
        else { continue }
        #expect(texts == expected || texts == expected.dropLast(20), "byte \(offset) of \(name)")
        try? store.close()
      }
    }
  }

  @Test func theSecondReaderReadsWhatTheStoreReads() throws {
    let store = try open(TestKey.first)
    for round in 0..<6 {
      try fill(store, 100 * round..<100 * round + 100)
      if round % 3 == 1 { try store.checkpoint() }
    }
    try store.suspend(checkpoints: false)
    guard let found = try SecondReader.contents(of: path) else { return }
    var options = DatabaseOptions()
    options.encryption = TestKey.first
    options.access = .readOnly
    let database = try Database(path: path, options: options)
    let trees = try (0..<Roots.maximumCount).map { try database.contents(of: $0) }
    #expect(trees.contains { $0.count > 500 })
    for (tree, contents) in trees.enumerated() {
      let isSame = found[tree] ?? [:] == contents
      #expect(isSame, "tree \(tree)")
    }
  }
}

extension Database {
  /// All keys and values of a tree.
  func contents(of tree: Int) throws -> [[UInt8]: [UInt8]] {
    let transaction = try beginRead()
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    var contents: [[UInt8]: [UInt8]] = [:]
    var cursor = Cursor(source, TreeNumber(tree))
    var isAtCell = try cursor.first()
    while isAtCell {
      var key = ByteBuffer()
      cursor.appendKey(to: &key)
      var value = ByteBuffer()
      try cursor.appendValue(to: &value)
      contents[key.bytes.array()] = value.bytes.array()
      isAtCell = try cursor.next()
    }
    return contents
  }
}
