import MsgStore
import PageFile
import Testing

/// Attachments of messages in a store.
struct MessageAttachmentsTests {
  private let photo = MessageAttachment(
    id: "p", kind: .image, remoteURL: "https://x/p", thumbnailURL: "https://x/t",
    fileName: "caf\u{E9} \u{0}/../\n👋.jpg", mimeType: "image/jpeg", contentHash: [1, 2],
    preview: [9, 9], byteCount: 12, durationMicroseconds: 3, width: 4, height: 5)

  private func carrier(_ attachments: [MessageAttachment], at time: Int64? = 10) -> Message {
    var message = message("m", at: time, from: time == nil ? "me" : "you", text: "")
    message.attachments = attachments
    return message
  }

  @Test func attachmentsComeWithTheirMessageInItsOrder() throws {
    let store = try memoryStore()
    let last = MessageAttachment(id: "a", kind: .other)
    try store.write { try $0.insert(carrier([photo, last])) }
    let states = try store.read { try $0.attachments(of: "m", in: "room") }
    #expect(states.map(\.attachment) == [photo, last])
    #expect(states.allSatisfy { $0.upload == .notRequested && $0.download == .notRequested })
    #expect(states.allSatisfy { $0.message == "m" && $0.conversation == "room" })
    try store.expectSound()
  }

  @Test func receivedPiecesWaitForTheirMessage() throws {
    let store = try memoryStore()
    let piece = MessageAttachment(id: "p", kind: .other, remoteURL: "u")
    #expect(try store.write { try $0.receive(piece, of: "m", in: "room") })
    #expect(try !store.write { try $0.receive(piece, of: "m", in: "room") })
    #expect(try store.read { try $0.attachments(of: "m", in: "room") } == [])
    try store.expectSound()
    try store.write {
      try $0.insert(carrier([MessageAttachment(id: "p", kind: .image, fileName: "f")]))
      #expect(try $0.receive(MessageAttachment(id: "q", kind: .audio), at: 0, of: "m", in: "room"))
    }
    let attachments = try store.read { try $0.message("m", in: "room") }?.attachments
    #expect(
      attachments == [
        MessageAttachment(id: "p", kind: .image, remoteURL: "u", fileName: "f"),
        MessageAttachment(id: "q", kind: .audio),
      ])
    try store.expectSound()
  }

  @Test(arguments: seeds(2)) func piecesInAnyOrderEndInTheSameAttachments(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let own = carrier([random.attachment()], at: nil)
    let pieces = (0..<5).map { _ in
      var piece = random.attachment()
      piece.localPath = nil
      return piece
    }
    var results: Set<[MessageAttachment]> = []
    for _ in 0..<8 {
      let store = try memoryStore()
      var steps = Array(0..<pieces.count) + [0, 1, 2]
      steps.shuffle(using: &random)
      // What was composed here comes at any moment before the server's copy of it.
      let moment = Int.random(in: 0...(steps.firstIndex(of: 0) ?? 0), using: &random)
      for (index, step) in steps.enumerated() {
        if index == moment { try store.write { try $0.insert(own) } }
        try store.write {
          if step == 0 {
            try $0.insert(carrier([pieces[0]]))
          } else {
            try $0.receive(pieces[step], of: "m", in: "room")
          }
        }
      }
      let states = try store.read { try $0.attachments(of: "m", in: "room") }
      var attachment = states[0].attachment
      attachment.localPath = nil
      results.insert([attachment])
      try store.expectSound()
    }
    #expect(results.count == 1)
  }

  @Test func whatIsReceivedTakesThePlaceOfWhatWasComposed() throws {
    let store = try memoryStore()
    let source = MessageAttachment(
      id: "p", kind: .document, localPath: "/source", fileName: "z", byteCount: 9_000_000)
    try store.write {
      try $0.send(carrier([source], at: nil))
      try $0.receive(
        MessageAttachment(id: "p", kind: .image, fileName: "a", byteCount: 5), of: "m", in: "room")
    }
    let expected = MessageAttachment(
      id: "p", kind: .image, localPath: "/source", fileName: "a", byteCount: 5)
    #expect(try store.read { try $0.message("m", in: "room")?.attachments } == [expected])
    try store.write {
      // From now on it is merged as between any two that are received.
      try $0.receive(MessageAttachment(id: "p", kind: .image, byteCount: 4), of: "m", in: "room")
    }
    #expect(try store.read { try $0.message("m", in: "room")?.attachments } == [expected])
  }

  @Test func receivedAttachmentsAreNeverRefused() throws {
    let store = try memoryStore()
    let huge = MessageAttachment(
      id: "p", kind: .image, mimeType: "x/y", contentHash: Array(repeating: 7, count: 5000),
      preview: Array(repeating: 1, count: 60_000), byteCount: .max)
    try store.write { try $0.receive(huge, of: "m", in: "room") }
    try store.write { try $0.insert(carrier([])) }
    #expect(try store.read { try $0.message("m", in: "room")?.attachments } == [huge])
    try store.expectSound()
  }

  @Test func thePreviewOfTheConversationFollowsItsAttachment() throws {
    let store = try memoryStore()
    try store.write { try $0.insert(carrier([MessageAttachment(id: "p", kind: .image)])) }
    try store.write {
      try $0.receive(
        MessageAttachment(id: "p", kind: .image, thumbnailURL: "t", fileName: "f"), of: "m",
        in: "room")
    }
    try store.expectSound()
    try store.write { try $0.receiveRetraction(of: "m", in: "room") }
    try store.expectSound()
    #expect(
      try !store.write { try $0.receive(photo, of: "m", in: "room") },
      "what was taken back stays empty")
    #expect(try store.read { try $0.attachments(of: "m", in: "room") } == [])
    try store.expectSound()
  }

  @Test func aCallThatChangesNothingCommitsNothing() throws {
    let store = try memoryStore()
    try store.write {
      try $0.insert(carrier([photo]))
      try $0.setLocalPath("/a", of: "p", message: "m", in: "room")
    }
    let count = store.statistics.lastCommit
    try store.write {
      try $0.insert(carrier([photo]))
      #expect(try !$0.receive(photo, of: "m", in: "room"))
      #expect(try !$0.setLocalPath("/a", of: "p", message: "m", in: "room"))
      #expect(try !$0.setLocalPath("/a", of: "nobody", message: "m", in: "room"))
      #expect(try !$0.setLocalPath("/a", of: "", message: "m", in: "room"))
      #expect(try !$0.setLocalPath("/a", of: "p", message: "x", in: "room"))
      #expect(try !$0.setTransfer(.upload, to: .notRequested, of: "p", message: "m", in: "room"))
    }
    #expect(store.statistics.lastCommit == count)
  }

  @Test func limitsHoldForWhatIsUploadedAndNotForItsSource() throws {
    let store = try TestClock().store { $0.attachmentLimits = .tight }
    let source = MessageAttachment(id: "p", kind: .image, localPath: "/raw", byteCount: 30_000_000)
    try store.write { try $0.send(carrier([source], at: nil)) }
    func refused(_ body: (borrowing StoreWriter) throws -> Void) {
      #expect(
        throws: StoreError.input(
          .attachment(
            .tooLarge(.image, byteCount: 30_000_000, limit: 2_000_000)))
      ) { try store.write { try body($0) } }
    }
    refused {
      _ = try $0.setTransfer(
        .upload, to: .running(doneByteCount: 0), of: "p", message: "m", in: "room")
    }
    refused {
      _ = try $0.prepareUpload(MessageAttachment(id: "p", kind: .image), of: "m", in: "room")
    }
    let prepared = MessageAttachment(
      id: "p", kind: .image, localPath: "/small", mimeType: "image/jpeg", contentHash: [3],
      byteCount: 2_000_000, width: 100, height: 50)
    #expect(try store.write { try $0.prepareUpload(prepared, of: "m", in: "room") })
    let state = try store.read { try $0.attachments(of: "m", in: "room") }.first
    #expect(state?.attachment == prepared && state?.upload == .queued)
    try store.write {
      try $0.insert(message("other", at: 5))
      #expect(try !$0.prepareUpload(MessageAttachment(id: "q", kind: .image), of: "m", in: "room"))
    }
    #expect(throws: StoreError.message(.notOwn, "other", in: "room")) {
      try store.write { try $0.prepareUpload(prepared, of: "other", in: "room") }
    }
    #expect(throws: StoreError.message(.notFound, "x", in: "room")) {
      try store.write { try $0.prepareUpload(prepared, of: "x", in: "room") }
    }
    try store.expectSound()
  }

  @Test func attachmentsFollowTheirMessageUnderAnotherName() throws {
    let store = try memoryStore()
    try store.write {
      try $0.send(carrier([photo], at: nil))
      try $0.setTransfer(
        .upload, to: .running(doneByteCount: 4), of: "p", message: "m", in: "room")
      // The server's copy comes under its own name first, then the word that both are one.
      var copy = carrier([MessageAttachment(id: "p", kind: .image, byteCount: 99)])
      copy.id = "server"
      try $0.insert(copy)
      try $0.acknowledge(
        "m", in: "room", serverTimestamp: time(10), as: "server")
    }
    for name in ["m", "server"] as [MessageID] {
      let states = try store.read { try $0.attachments(of: name, in: "room") }
      #expect(states.count == 1 && states.first?.attachment.byteCount == 99)
      #expect(states.first?.upload == .running(doneByteCount: 4))
    }
    #expect(try store.read { try $0.runningTransfers() }.map(\.message) == ["m"])
    try store.expectSound()
  }
}
