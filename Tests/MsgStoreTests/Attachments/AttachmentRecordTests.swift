import MsgStore
import PageFile
import Testing

/// Attachments come back as they were written, and no bytes make reading one trap.
struct AttachmentRecordTests {
  private func written(_ record: AttachmentRecord) -> [UInt8] {
    var buffer = ByteBuffer()
    record.append(to: &buffer)
    return buffer.bytes.array()
  }

  private func read(_ bytes: [UInt8]) -> AttachmentRecord? {
    Bytes.with(bytes) { AttachmentRecord($0) }
  }

  @Test(arguments: seeds(3)) func attachmentsRoundTripAndDamageIsNoTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<400 {
      let record = AttachmentRecord(
        random.attachment(id: String(repeating: "i", count: .random(in: 1...255, using: &random))),
        index: .random(in: 0 ... .max, using: &random), upload: random.transfer(),
        download: random.transfer())
      var bytes = written(record)
      #expect(read(bytes) == record)
      #expect(read(bytes + [0]) == nil && read(bytes.dropLast()) == nil)
      for _ in 0..<20 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(random.next() & 0xFF)
        if random.chance(10) { bytes.removeLast(min(bytes.count, 3)) }
        // What can be read is written and read once more.
        if let other = read(bytes) { #expect(read(written(other)) == other) }
        // Checking without making texts takes the same bytes.
        #expect(Bytes.with(bytes) { AttachmentRecord.isValid($0) } == (read(bytes) != nil))
      }
      _ = read(random.bytes(.random(in: 0..<60, using: &random)))
    }
  }

  @Test func aFileNameOfAnyLengthIsKeptExactly() {
    let name = String(repeating: "имя\n\u{0}", count: 8192)
    #expect(name.utf8.count == MessageAttachment.maximumFieldByteCount)
    var attachment = MessageAttachment(id: "a", kind: .document, fileName: name)
    #expect(attachment.storageProblem == nil)
    #expect(read(written(AttachmentRecord(attachment, index: 0)))?.attachment == attachment)
    attachment.fileName = name + "x"
    #expect(
      attachment.storageProblem == .fieldTooLong(.fileName, byteCount: 65537, limit: 65536))
    #expect(read(written(AttachmentRecord(attachment, index: 0))) == nil)
  }

  /// One that is restored counts on from what it says.
  @Test func aFailureBringsItsCount() {
    let failed = AttachmentTransfer.failed(SendFailure(.timeOut), count: 3)
    let record = AttachmentRecord(
      MessageAttachment(id: "a", kind: .image), index: 0, upload: failed)
    #expect(record.failureCounts == TransferCounts(uploads: 3))
    #expect(read(written(record)) == record)
  }

  @Test func lengthsBeyondTheRecordAreRefused() {
    // A URL that claims 2^63 bytes, and one of a byte with nothing behind.
    let head: [UInt8] = [1, 1, 0, 1, 1, 97, 0, 0, 0]
    #expect(read(head) == nil && read(head + [1]) == nil)
    #expect(read(head + Array(repeating: 0xFF, count: 8) + [0x7F]) == nil)
    #expect(read(head + [1, 98])?.attachment.remoteURL == "b")
    #expect(read(head + [1, 0xFF]) == nil)
  }

  @Test func whatWasRunningIsQueuedAfterARestart() {
    let failed = AttachmentTransfer.failed(SendFailure(.timeOut), count: 2)
    #expect(AttachmentTransfer.running(doneByteCount: 5).afterRestart == .queued)
    for transfer in [AttachmentTransfer.notRequested, .queued, .done, failed] {
      #expect(transfer.afterRestart == transfer && !transfer.isRunning)
    }
  }
}
