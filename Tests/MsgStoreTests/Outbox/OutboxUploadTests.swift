import MsgStore
import PageFile
import Testing

/// Uploads that may not go as they are described, and whatever else is stored: nothing of it stops the
/// handing out of all the rest.
struct OutboxUploadTests {
  private func picture(_ id: MessageID, byteCount: Int64, in room: ConversationID = "room")
    -> Message
  {
    var message = own(id, in: room)
    message.attachments = [MessageAttachment(id: "p", kind: .image, byteCount: byteCount)]
    return message
  }

  private func small(_ byteCount: Int64 = 1000) -> MessageAttachment {
    MessageAttachment(id: "p", kind: .image, byteCount: byteCount)
  }

  @Test func anUploadBeyondALimitWaitsUntilItIsPrepared() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(picture("m", byteCount: 5_000_000))
      try $0.send(own("n", in: "room"))
      try $0.send(own("o", in: "other"))
    }
    #expect(
      try store.waiting == [
        "upload m queued, blocked", "send m queued, blocked", "send n queued", "send o queued",
      ])
    #expect(try store.drain() == ["send n", "send o"])
    #expect(try store.nextTime() == nil)
    try store.expectSound()
    #expect(try store.write { try $0.prepareUpload(small(), of: "m", in: "room") })
    #expect(try store.waiting == ["upload m queued", "send m queued"])
    try store.expectSound()
    #expect(try store.drain() == ["upload p", "send m"])
  }

  @Test func aFileThatIsPreparedBadlyStaysWhereItIs() throws {
    let store = try TestClock().outboxStore()
    try store.write { chat in
      try chat.send(picture("m", byteCount: 5_000_000))
      #expect(throws: StoreError.self) {
        try chat.prepareUpload(small(3_000_000), of: "m", in: "room")
      }
    }
    #expect(try store.next() == nil)
    #expect(try store.message("m")?.attachments.first?.byteCount == 5_000_000)
    try store.expectSound()
  }

  @Test func releasingAndRetryingDoNotPrepare() throws {
    let store = try TestClock().outboxStore()
    try store.write { chat in
      try chat.outbox.setHoldsNewEntries(true)
      try chat.send(picture("m", byteCount: 5_000_000))
    }
    #expect(try store.waiting == ["upload m held, blocked", "send m held, blocked"])
    try store.write { try $0.outbox.releaseAndRetryAll() }
    #expect(try store.waiting == ["upload m queued, blocked", "send m queued, blocked"])
    #expect(try store.next() == nil)
    try store.expectSound()
    try store.write { _ = try $0.prepareUpload(small(), of: "m", in: "room") }
    #expect(try store.drain() == ["upload p", "send m"])
  }

  @Test func whatWasAcceptedGoesOutUnderSmallerLimits() throws {
    let clock = TestClock()
    let directory = MemoryDirectory()
    let store = try clock.outboxStore(directory)
    try store.write { chat in
      try chat.send(picture("m", byteCount: 1_500_000))
      try chat.send(picture("n", byteCount: 1_500_000, in: "other"))
    }
    try store.close()
    let later = try clock.store(directory) { options in
      options.attachmentLimits = AttachmentLimits(
        rules: [.image: .init(maximumByteCount: 100, mimeTypes: ["image/png"])])
    }
    let first = try later.take()
    #expect(try later.fail(first))
    let second = try later.take()
    #expect(try later.write { try $0.outbox.returnWork(second) })
    clock.advance(10)
    #expect(try later.drain() == ["upload p", "send m", "upload p", "send n"])
    try later.expectSound()
  }

  @Test func largerLimitsLetGoWhatIsPreparedAsItIs() throws {
    let directory = MemoryDirectory()
    let store = try TestClock().outboxStore(directory)
    try store.write { try $0.send(picture("m", byteCount: 5_000_000)) }
    try store.close()
    let later = try TestClock().store(directory) { options in
      options.attachmentLimits = AttachmentLimits(rules: [:])
    }
    #expect(try later.next() == nil)
    try later.write { _ = try $0.prepareUpload(small(5_000_000), of: "m", in: "room") }
    #expect(try later.drain() == ["upload p", "send m"])
  }

  @Test(arguments: [Int.min, -1, 0, .max])
  func noFormOfReceiptsMakesHandingOutThrow(count: Int) throws {
    let store = try TestClock().outboxStore { $0.receiptForm = .ids(maximumCount: count) }
    try store.write { chat in
      try chat.insert(message("r", at: 1))
      _ = try chat.markRead("room")
    }
    guard case .receipt(let receipt) = try store.take().task else {
      Issue.record("no receipt")
      return
    }
    #expect(receipt.ids == ["r"])
  }

  /// Some servers publish a message as soon as they have its file.
  @Test(arguments: [true, false])
  func anUploadIsDoneOnceTheServerHasTheMessage(_ isReported: Bool) throws {
    let directory = MemoryDirectory()
    let store = try TestClock().outboxStore(directory)
    try store.write { try $0.send(picture("m", byteCount: 1000)) }
    let item = try store.take()
    if isReported { try store.done(item) }
    try store.write { _ = try $0.acknowledge("m", in: "room", serverTimestamp: time(5)) }
    if !isReported { #expect(try !store.done(item)) }
    #expect(try store.waiting == [])
    try store.close()
    let later = try TestClock().outboxStore(directory)
    try later.read { chat throws in
      #expect(try chat.attachments(of: "m", in: "room").map(\.upload) == [.done])
      #expect(try chat.runningTransfers().isEmpty)
    }
    try later.expectSound()
  }
}
