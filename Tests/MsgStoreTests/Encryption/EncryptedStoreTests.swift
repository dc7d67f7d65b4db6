import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Encrypted message stores, as a client uses them.
struct EncryptedStoreTests {
  private static let path = "memory:store"
  private let seals = SealSource(seed: 11, key: 1)
  private let other = SealSource(seed: 12, key: 2)

  private func open(
    _ directory: MemoryDirectory, _ encryption: Encryption?, mark: LSN? = nil,
    access: StoreOptions.Access = .readWrite, member: MemberID? = nil
  ) throws(StoreError) -> MessageStore {
    var options = StoreOptions(
      localMember: member, access: access, clock: { Timestamp(microseconds: 1_000_000) }
    ).makingConversations
    options.encryption = encryption
    options.mark = mark
    return try MessageStore(in: directory, name: "store", options: options)
  }

  private let room: ConversationID = "conversation-of-canaries"

  /// Adds messages whose ids, authors and texts can be looked for.
  private func fill(_ store: MessageStore, from first: Int = 0, count: Int = 200) throws {
    try store.write { chat in
      for index in first..<first + count {
        try chat.insert(
          Message(
            id: MessageID("canary-id-\(index)-end"), in: room,
            from: MemberID("canary-member-\(index % 5)"), text: "canary-text-number-\(index)",
            serverTimestamp: Timestamp(microseconds: Int64(index)), sequence: Int64(index + 1)))
      }
    }
  }

  private func texts(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.thread(room).tail(10_000).map(\.text) }
  }

  private func expect(
    _ error: PageFileError, _ directory: MemoryDirectory, _ encryption: Encryption?,
    mark: LSN? = nil
  ) {
    let names = ["store", "store-wal0", "store-wal1"]
    let before = names.map { directory[$0] }
    for access in [StoreOptions.Access.readWrite, .readOnly] {
      #expect(throws: StoreError.storage(error)) {
        try open(directory, encryption, mark: mark, access: access)
      }
    }
    let isUntouched = names.map { directory[$0] } == before
    #expect(isUntouched)
  }

  @Test(arguments: [true, false]) func aStoreOpensUnderItsKeyOnly(isClosed: Bool) throws {
    let directory = MemoryDirectory()
    let store = try open(directory, seals.encryption, member: "canary-member-0")
    try fill(store)
    let texts = try texts(store)
    #expect(texts.count == 200)
    if isClosed { try store.close() } else { try store.suspend(checkpoints: false) }
    expect(.keyMissing(path: Self.path), directory, nil)
    expect(.keyMissing(path: Self.path), directory, Encryption { nil })
    expect(.wrongKey(path: Self.path), directory, other.encryption)
    let short = PageFileError.invalidKey(byteCount: 31)
    expect(short, directory, Encryption { () throws(PageFileError) in throw short })
    let again = try open(directory, seals.encryption)
    #expect(again.localMember == "canary-member-0")
    #expect(try self.texts(again) == texts)
    #expect(try again.check() == [])
  }

  @Test func aPlainStoreIsRefusedWithAKey() throws {
    let directory = MemoryDirectory()
    let store = try open(directory, nil)
    try fill(store)
    try store.close()
    expect(.notEncrypted(path: Self.path), directory, seals.encryption)
    #expect(try texts(open(directory, nil)).count == 200)
  }

  @Test func aBadKeyCreatesNoStore() throws {
    let directory = MemoryDirectory()
    let short = PageFileError.invalidKey(byteCount: 0)
    #expect(throws: StoreError.storage(short)) {
      try open(directory, Encryption { () throws(PageFileError) in throw short })
    }
    #expect(throws: StoreError.storage(.keyMissing(path: Self.path))) {
      try open(directory, Encryption { nil })
    }
    #expect(!directory.exists("store"))
  }

  @Test func aReaderBesideTheOwnerNeedsTheKeyAndFollows() throws {
    let directory = MemoryDirectory()
    let owner = try open(directory, seals.encryption)
    try fill(owner)
    #expect(throws: StoreError.storage(.keyMissing(path: Self.path))) {
      try open(directory, nil, access: .readOnly)
    }
    let reader = try open(directory, seals.encryption, access: .readOnly)
    for round in 1..<6 {
      try fill(owner, from: 200 * round, count: 20)
      if round % 2 == 0 { try owner.checkpoint() }
      #expect(try texts(reader) == texts(owner))
    }
  }

  @Test func theKeyIsAskedForAtEachResume() throws {
    let isThere = Locked(true)
    let seals = seals
    let directory = MemoryDirectory()
    let store = try open(
      directory, Encryption { isThere.withLock { $0 } ? seals.cipher : nil })
    try fill(store)
    try store.suspend()
    isThere.withLock { $0 = false }
    #expect(throws: StoreError.storage(.keyMissing(path: Self.path))) { try store.resume() }
    #expect(throws: StoreError.storage(.suspended)) { try texts(store) }
    isThere.withLock { $0 = true }
    try store.resume()
    #expect(try texts(store).count == 200)
  }

  @Test func compactionAndCopiesStayEncrypted() throws {
    let directory = MemoryDirectory()
    let store = try open(directory, seals.encryption)
    try fill(store, count: 3000)
    try store.write { chat in
      for index in 0..<1500 { _ = try chat.delete(MessageID("canary-id-\(index)-end"), in: room) }
    }
    try store.checkpoint()
    let texts = try texts(store)
    let before = try #require(directory["store"]).count
    try store.compact()
    try store.checkpoint()
    #expect(try #require(directory["store"]).count < before)
    #expect(try self.texts(store) == texts)
    #expect(try store.check() == [])
    try store.core.database.backUp(to: directory, name: "copy")
    let copy = try #require(directory["copy"])
    #expect(!holds(copy, "canary-"))
    let files = MemoryDirectory()
    files["store"] = copy
    expect(.keyMissing(path: Self.path), files, nil)
    #expect(try self.texts(open(files, seals.encryption)) == texts)
  }

  @Test func tasksCopyAndRestoreUnderAKey() async throws {
    let folder = try TemporaryDirectory()
    let plain = try open(MemoryDirectory(), nil)
    try fill(plain)
    let texts = try texts(plain)
    let copy = folder.url.appendingPathComponent("copy").path
    let restored = folder.url.appendingPathComponent("restored").path
    try await plain.backUp(to: copy, encryption: seals.encryption)
    let lines = Locked<[UInt8]?>(try plain.lines())
    try await MessageStore.restore(
      to: restored, encryption: seals.encryption,
      reading: {
        lines.withLock { lines in
          defer { lines = nil }
          return lines ?? []
        }
      })
    for path in [copy, restored] {
      #expect(throws: StoreError.storage(.keyMissing(path: path))) {
        try MessageStore(path: path)
      }
      var options = StoreOptions()
      options.encryption = seals.encryption
      let store = try MessageStore(path: path, options: options)
      #expect(try self.texts(store) == texts)
      try await store.close()
    }
    // A task that was cancelled leaves nothing.
    let cancelled = folder.url.appendingPathComponent("cancelled").path
    await #expect(throws: CancellationError.self) {
      try await plain.backUp(to: cancelled, encryption: seals.encryption) { _ in
        throw CancellationError()
      }
    }
    #expect(!FileManager.default.fileExists(atPath: cancelled))
  }

  // MARK: Nothing to read in the files

  private func holds(_ bytes: [UInt8], _ word: String) -> Bool {
    Data(bytes).range(of: Data(word.utf8)) != nil
  }

  /// Every state of every file while a store is used.
  private func files(of encryption: Encryption?) throws -> [[UInt8]] {
    let directory = MemoryDirectory()
    var files: [[UInt8]] = []
    func take() {
      for name in ["store", "store-wal0", "store-wal1"] {
        if let bytes = directory[name] { files.append(bytes) }
      }
    }
    let store = try open(directory, encryption, member: "canary-member-0")
    for round in 0..<4 {
      try fill(store, from: 100 * round, count: 100)
      take()
      try store.write { chat in
        let id = MessageID("canary-sent-\(round)")
        try chat.send(Message(id: id, in: room, from: "canary-member-0", text: "canary-draft"))
        try chat.setSyncPosition(Array("canary-position".utf8), for: "canary-key")
      }
      take()
      if round % 2 == 1 { try store.checkpoint() }
      take()
    }
    try store.close()
    take()
    return files
  }

  @Test func noFileHoldsATextAnIdOrAName() throws {
    let words = ["canary-", "conversation-of-canaries", "number-1"]
    let plain = try files(of: nil)
    for word in words {
      #expect(plain.contains { holds($0, word) }, "\(word): the search finds nothing at all")
    }
    for bytes in try files(of: seals.encryption) {
      for word in words { #expect(!holds(bytes, word), "\(word)") }
      let key = [UInt8](repeating: 1, count: 12)
      #expect(!holds(bytes, String(decoding: key, as: UTF8.self)), "the key")
    }
  }

  // MARK: The mark

  @Test func anOlderCopyIsFoundOutByTheMark() throws {
    let directory = MemoryDirectory()
    let store = try open(directory, seals.encryption)
    try fill(store)
    try store.close()
    let older = directory.copy()
    let next = try open(directory, seals.encryption)
    try fill(next, from: 200)
    let mark = next.mark
    try next.close()
    #expect(next.mark >= mark)
    #expect(try texts(open(older, seals.encryption)).count == 200, "without a mark")
    let found = try open(older.copy(), seals.encryption).mark
    expect(.rolledBack(found: found, expected: mark), older, seals.encryption, mark: mark)
    expect(
      .rolledBack(found: .zero, expected: mark), MemoryDirectory(), seals.encryption, mark: mark)
    #expect(try texts(open(directory, seals.encryption, mark: mark)).count == 400)
  }

  /// The mark that an app has stored holds at every later opening, whatever happens in between.
  @Test func aMarkIsNeverAheadOfWhatIsThere() throws {
    let directory = MemoryDirectory()
    var mark = LSN.zero
    for round in 0..<12 {
      let store = try open(directory, seals.encryption, mark: mark)
      #expect(store.mark >= mark)
      try fill(store, from: 10 * round, count: 10)
      #expect(store.mark > mark, "a write at full is durable")
      mark = store.mark
      switch round % 3 {
      case 0: try store.close()
      case 1: try store.suspend(checkpoints: false)
      default: store.core.database.abandon()
      }
    }
    #expect(try texts(open(directory, seals.encryption, mark: mark)).count == 120)
  }

  // MARK: Another key

  @Test func aChangedKeyOpensTheStoreAndTheFormerOneDoesNot() throws {
    let directory = MemoryDirectory()
    let store = try open(directory, seals.encryption)
    try fill(store)
    try store.changeKey(to: other.encryption)
    try fill(store, from: 200)
    try store.suspend()
    try store.resume()
    let texts = try texts(store)
    try store.close()
    expect(.wrongKey(path: Self.path), directory, seals.encryption)
    let again = try open(directory, other.encryption)
    #expect(try self.texts(again) == texts)
    #expect(try again.check() == [])
    let plain = try open(MemoryDirectory(), nil)
    #expect(throws: StoreError.storage(.notEncrypted(path: Self.path))) {
      try plain.changeKey(to: other.encryption)
    }
  }

  /// The closure that gives the key is called while the store is being resumed.
  @Test func callsInTheKeyClosureWorkOrAreRefused() throws {
    let seals = seals
    let (store, errors) = (Locked<MessageStore?>(nil), Locked<[StoreError?]>([]))
    @Sendable func note(_ body: () throws -> Void) {
      let result = Result { try body() }
      errors.withLock { errors in
        if case .failure(let error) = result {
          errors.append(error as? StoreError)
        } else {
          errors.append(nil)
        }
      }
    }
    let encryption = Encryption {
      guard let store = store.withLock({ $0 }) else { return seals.cipher }
      note { try store.suspend() }
      note { try store.close() }
      note { try store.resume() }
      note { try store.read { _ in } }
      note { try store.write { _ in } }
      note { try store.checkpoint() }
      note { try store.changeKey(to: seals.encryption) }
      return seals.cipher
    }
    let opened = try open(MemoryDirectory(), encryption)
    try fill(opened)
    store.withLock { $0 = opened }
    try opened.suspend()
    try opened.resume()
    let expected =
      ["suspend", "close", "resume"].map { PageFileError.insideTransaction(call: $0) }
      + [PageFileError](repeating: .suspended, count: 4)
    #expect(
      errors.withLock { Array($0.prefix(7)) } == expected.map { Optional(StoreError.storage($0)) })
    #expect(try texts(opened).count == 200)
    try fill(opened, from: 200, count: 1)
    #expect(try opened.check() == [])
    store.withLock { $0 = nil }
    try opened.close()
  }

  /// While the key is changed, the store may even be closed.
  @Test func theClosureOfANewKeyMayUseTheStore() throws {
    let (seals, other) = (seals, other)
    let store = try open(MemoryDirectory(), seals.encryption)
    try fill(store)
    let hasWorked = Locked<Bool?>(nil)
    try store.changeKey(
      to: Encryption {
        let works = (try? store.read { _ in }) != nil && (try? store.checkpoint()) != nil
        hasWorked.withLock { $0 = $0 ?? works }
        return other.cipher
      })
    #expect(hasWorked.withLock { $0 } == true)
    let expected = StoreError.storage(.closed)
    #expect(throws: expected) {
      try store.changeKey(
        to: Encryption {
          try? store.close()
          return seals.cipher
        })
    }
  }
}
