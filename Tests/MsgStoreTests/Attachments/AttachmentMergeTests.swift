import MsgStore
import Testing

/// Merging what is known of attachments: in any order, any grouping, any number of times.
@Suite struct AttachmentMergeTests {
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

  @Test func textsAreComparedByTheirBytes() {
    let composed = MessageAttachment(id: "a", kind: .other, fileName: "caf\u{E9}")
    let decomposed = MessageAttachment(id: "a", kind: .other, fileName: "cafe\u{301}")
    #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    let merged = decomposed.merged(with: composed)
    #expect(merged == composed && composed.merged(with: decomposed) == composed)
  }
}
