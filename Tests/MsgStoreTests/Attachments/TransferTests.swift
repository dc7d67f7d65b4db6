import Damage
import MsgStore
import PageFile
import Testing

/// How far the bytes of attachments have come.
struct TransferTests {
  private let failure = SendFailure(.noConnection, text: "off line")

  private func fill(_ store: MessageStore, count: Int = 1) throws {
    try store.write {
      for index in 0..<count {
        var message = message(MessageID("m\(index)"), at: Int64(index), text: "")
        message.attachments = [MessageAttachment(id: "a", kind: .video, byteCount: 100)]
        try $0.insert(message)
      }
    }
  }

  private func set(
    _ store: MessageStore, _ transfer: AttachmentTransfer, _ id: MessageID = "m0",
    _ direction: TransferDirection = .download
  ) throws -> Bool {
    try store.write {
      try $0.setTransfer(direction, to: transfer, of: "a", message: id, in: "room")
    }
  }

  private func transfer(
    _ store: MessageStore, _ direction: TransferDirection = .download
  ) throws -> AttachmentTransfer? {
    let state = try store.read { try $0.attachments(of: "m0", in: "room") }.first
    return direction == .upload ? state?.upload : state?.download
  }

  @Test func transfersGoUpAndDownApart() throws {
    let store = try memoryStore()
    try fill(store)
    #expect(try set(store, .queued) && set(store, .running(doneByteCount: 7)))
    #expect(try set(store, .done, "m0", .upload))
    #expect(try transfer(store) == .running(doneByteCount: 7))
    #expect(try transfer(store, .upload) == .done)
    try store.expectSound()
  }

  @Test func failuresAreCountedUntilOneIsDone() throws {
    let store = try memoryStore()
    try fill(store)
    for count in 1...3 {
      #expect(try set(store, .running(doneByteCount: 0)))
      #expect(try set(store, .failed(failure, count: 77)))
      #expect(try transfer(store) == .failed(failure, count: count))
      #expect(try store.read { try $0.runningTransfers() } == [])
      #expect(try set(store, .queued))
    }
    try store.expectSound()
    #expect(
      try set(store, .done) && set(store, .notRequested)
        && set(store, .failed(failure, count: 9)))
    #expect(try transfer(store) == .failed(failure, count: 1))
  }

  @Test func whatIsDoneStaysDone() throws {
    let store = try memoryStore()
    try fill(store)
    #expect(try set(store, .done))
    for late in [.queued, .running(doneByteCount: 1), .failed(failure, count: 1), .done]
      as [AttachmentTransfer]
    {
      #expect(try !set(store, late))
      #expect(try transfer(store) == .done)
    }
    #expect(try set(store, .notRequested))
    #expect(try set(store, .queued))
  }

  @Test func allRunningTransfersAreListed() throws {
    let store = try memoryStore()
    try fill(store, count: 6)
    _ = try set(store, .running(doneByteCount: 1), "m1")
    _ = try set(store, .queued, "m3", .upload)
    _ = try set(store, .failed(failure, count: 0), "m4")
    _ = try set(store, .done, "m5")
    func listed() throws -> [MessageID] {
      try store.read { try $0.runningTransfers() }.map(\.message)
    }
    #expect(try listed() == ["m1", "m3"])
    try store.write {
      #expect(try $0.runningTransfers().count == 2)
      try $0.delete("m3", in: "room")
      #expect(try $0.runningTransfers().map(\.message) == ["m1"])
    }
    #expect(try listed() == ["m1"])
    _ = try set(store, .done, "m1")
    #expect(try listed() == [])
    try store.expectSound()
  }

  @Test func aRunningTransferIsQueuedAfterACrash() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try fill(store)
    _ = try set(store, .running(doneByteCount: 50))
    let count = store.statistics.lastCommit
    let crashed = try memoryStore(directory.copy())
    #expect(try transfer(crashed) == .queued)
    #expect(try crashed.read { try $0.runningTransfers() }.map(\.download) == [.queued])
    #expect(crashed.statistics.lastCommit == count, "nothing is written for that")
    #expect(
      try !crashed.reportProgress(
        .download, doneByteCount: 60, of: "a", message: "m0", in: "room"))
    #expect(try set(crashed, .running(doneByteCount: 50)), "it begins anew, at the same byte")
    #expect(try transfer(crashed) == .running(doneByteCount: 50))
    try crashed.expectSound()
  }

  @Test func whatARolledBackWriteBeganDoesNotRun() throws {
    struct Stop: Error {}
    let store = try memoryStore()
    try fill(store)
    #expect(throws: Stop.self) {
      try store.write {
        try $0.setTransfer(
          .download, to: .running(doneByteCount: 1), of: "a", message: "m0", in: "room")
        #expect(
          try $0.attachments(of: "m0", in: "room").first?.download == .running(doneByteCount: 1))
        throw Stop()
      }
    }
    #expect(try transfer(store) == AttachmentTransfer.notRequested)
    #expect(
      try !store.reportProgress(.download, doneByteCount: 6, of: "a", message: "m0", in: "room"))
  }

  @Test func progressIsKeptInMemoryAndStoredWithTheNextCommit() throws {
    let clock = Locked<Int64>(1_000_000)
    let directory = MemoryDirectory()
    let store = try MessageStore(
      in: directory, name: "store",
      options: StoreOptions(
        localMember: "me", clock: { Timestamp(microseconds: clock.withLock { $0 }) }
      ).makingConversations)
    try fill(store)
    _ = try set(store, .running(doneByteCount: 0))
    func report(_ byteCount: Int64) throws {
      #expect(
        try store.reportProgress(
          .download, doneByteCount: byteCount, of: "a", message: "m0", in: "room"))
    }
    let commitCount = store.statistics.lastCommit
    for byteCount in 1...20 as ClosedRange<Int64> {
      try report(byteCount)
      #expect(try transfer(store) == .running(doneByteCount: byteCount))
    }
    // A write that changes nothing is no commit.
    #expect(try !store.write { try $0.delete("nobody", in: "room") })
    #expect(store.statistics.lastCommit == commitCount)
    #expect(try stored(directory) == 0)
    try store.write { try $0.insert(message("n", at: 1000)) }
    #expect(store.statistics.lastCommit == commitCount + 1)
    #expect(try stored(directory) == 20)
    // None for three seconds: the next report stores it.
    try report(30)
    clock.withLock { $0 += 2_999_999 }
    try report(40)
    #expect(store.statistics.lastCommit == commitCount + 1)
    clock.withLock { $0 += 1 }
    try report(50)
    #expect(store.statistics.lastCommit == commitCount + 2)
    #expect(try stored(directory) == 50)
    try report(50)
    #expect(store.statistics.lastCommit == commitCount + 2)
    try store.expectSound()
  }

  /// The bytes done that are in the files.
  private func stored(_ directory: MemoryDirectory) throws -> Int64? {
    let copy = directory.copy()
    let database = try Database(in: copy, name: "store")
    defer { try? database.close() }
    let transaction = try database.beginRead()
    var value = ByteBuffer()
    try transaction.source.enter()
    defer { transaction.source.leave() }
    var key = ByteBuffer()
    // Conversation 1, an id of two bytes, an attachment.
    for byte in [0, 0, 0, 1, 2, 0x6D, 0x30, 3, 0x61] as [UInt8] { key.append(byte) }
    guard
      try BTree(transaction.source, TreeNumber(9)).value(of: key.bytes, appendTo: &value),
      let record = AttachmentRecord(value.bytes), case .running(let count) = record.download
    else { return nil }
    return count
  }

  /// Nothing runs whose beginning was not stored.
  @Test func whatACommitFailedToBeginDoesNotRun() throws {
    let trouble = Trouble()
    let store = try trouble.open()
    try fill(store)
    func report(_ byteCount: Int64) throws -> Bool {
      try store.reportProgress(
        .download, doneByteCount: byteCount, of: "a", message: "m0", in: "room")
    }
    trouble.begin(.diskFull, [.write, .extend])
    #expect(throws: StoreError.self) { try set(store, .running(doneByteCount: 1)) }
    trouble.end()
    #expect(try !report(5))
    // One that runs goes on.
    #expect(try set(store, .running(doneByteCount: 7)))
    trouble.begin(.diskFull, [.write, .extend])
    #expect(throws: StoreError.self) { try set(store, .running(doneByteCount: 1)) }
    trouble.end()
    #expect(try transfer(store) == .running(doneByteCount: 7))
    #expect(try report(9))
  }
}
