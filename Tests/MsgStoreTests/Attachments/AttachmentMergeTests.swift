import MsgStore
import Testing

/// Merging what is known of attachments: in any order, any grouping, any number of times.
struct AttachmentMergeTests {
  @Test(arguments: seeds(3)) func mergingIsAJoin(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<3000 {
      let own = random.attachment()
      var a = random.attachment()
      var b = random.attachment()
      #expect(
        own.merged(with: a).localPath.map { Array($0.utf8) } == own.localPath.map { Array($0.utf8) }
      )
      // What is received has no local path.
      a.localPath = nil
      b.localPath = nil
      #expect(a.merged(with: b) == b.merged(with: a))
      #expect(own.merged(with: a).merged(with: b) == own.merged(with: b).merged(with: a))
      #expect(own.merged(with: a).merged(with: b) == own.merged(with: a.merged(with: b)))
      #expect(own.merged(with: a).merged(with: a) == own.merged(with: a))
      #expect(own.merged(with: own) == own)
    }
  }

  @Test func whatIsKnownReplacesWhatIsNotAndTheGreaterStays() {
    let known = MessageAttachment(
      id: "a", kind: .other, localPath: "/here", fileName: "b", mimeType: "x", byteCount: 5)
    let received = MessageAttachment(
      id: "a", kind: .image, remoteURL: "u", thumbnailURL: "t", localPath: "/there", fileName: "a",
      mimeType: "y", contentHash: [1], preview: [2], byteCount: 3, durationMicroseconds: 4,
      width: 5, height: 6)
    #expect(
      known.merged(with: received)
        == MessageAttachment(
          id: "a", kind: .image, remoteURL: "u", thumbnailURL: "t", localPath: "/here",
          fileName: "b", mimeType: "y", contentHash: [1], preview: [2], byteCount: 5,
          durationMicroseconds: 4, width: 5, height: 6))
    let nothing = MessageAttachment(id: "a", kind: .other)
    #expect(known.merged(with: nothing) == known)
  }

  @Test func theNewerAddressStays() {
    func attachment(_ url: String?, _ moment: Int64?) -> MessageAttachment {
      MessageAttachment(
        id: "a", kind: .image, remoteURL: url, thumbnailURL: url,
        remoteURLAt: moment.map { Timestamp(microseconds: $0) },
        thumbnailURLAt: moment.map { Timestamp(microseconds: $0) })
    }
    let ranked = [
      attachment(nil, 9), attachment("a", nil), attachment("z", nil), attachment("y", 1),
      attachment("b", 2), attachment("c", 2), attachment("a", 3),
    ]
    for lower in ranked.indices {
      for higher in lower..<ranked.count {
        let merged = ranked[lower].merged(with: ranked[higher])
        #expect(merged == ranked[higher].merged(with: ranked[lower]))
        guard higher > lower else { continue }
        #expect(merged.remoteURL == ranked[higher].remoteURL)
        #expect(merged.remoteURLAt == ranked[higher].remoteURLAt)
        #expect(merged.thumbnailURL == ranked[higher].thumbnailURL)
        #expect(merged.thumbnailURLAt == ranked[higher].thumbnailURLAt)
      }
    }
    // The same address, told twice, has the later time.
    #expect(attachment("u", 1).merged(with: attachment("u", 4)) == attachment("u", 4))
  }

  @Test func aSignedAddressGivesWayToANewerOneInAStore() throws {
    let signed = [
      MessageAttachment(id: "a", kind: .image, remoteURL: "u?signature=9", remoteURLAt: time(1)),
      MessageAttachment(id: "a", kind: .image, remoteURL: "u?signature=1", remoteURLAt: time(2)),
      MessageAttachment(id: "a", kind: .image, remoteURL: "u?unsigned"),
    ]
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]] {
      let store = try memoryStore()
      try store.write { chat in
        var message = chatMessage("m", in: "room", at: 10, from: "ann")
        message.attachments = [signed[order[0]]]
        try chat.insert(message)
        for index in order.dropFirst() { try chat.receive(signed[index], of: "m", in: "room") }
      }
      let copy = try MessageStore.restored(from: try store.lines())
      for store in [store, copy] {
        let stored = try store.read { try $0.message("m", in: "room")?.attachments.first }
        #expect(stored?.remoteURL == "u?signature=1" && stored?.remoteURLAt == time(2))
        try store.expectSound()
      }
    }
  }

  @Test func aTimeWithoutItsAddressIsNotStored() throws {
    let store = try memoryStore()
    try store.write { chat in
      var message = chatMessage("m", in: "room", at: 10, from: "ann")
      message.attachments = [
        MessageAttachment(id: "a", kind: .image, remoteURLAt: time(1), thumbnailURLAt: time(2))
      ]
      try chat.insert(message)
    }
    let stored = try store.read { try $0.message("m", in: "room")?.attachments }
    #expect(stored == [MessageAttachment(id: "a", kind: .image)])
    try store.expectSound()
  }

  @Test func textsAreComparedByTheirBytes() {
    let composed = MessageAttachment(id: "a", kind: .other, fileName: "caf\u{E9}")
    let decomposed = MessageAttachment(id: "a", kind: .other, fileName: "cafe\u{301}")
    #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    let merged = decomposed.merged(with: composed)
    #expect(merged == composed && composed.merged(with: decomposed) == composed)
  }
}
