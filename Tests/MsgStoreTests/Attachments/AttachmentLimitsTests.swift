import MsgStore
import Testing

/// What may be uploaded, by kind.
struct AttachmentLimitsTests {
  private func check(
    _ kind: AttachmentKind, _ byteCount: Int64?, _ mimeType: String? = nil,
    _ limits: AttachmentLimits = .tight
  ) -> AttachmentProblem? {
    limits.check(MessageAttachment(id: "a", kind: kind, mimeType: mimeType, byteCount: byteCount))
  }

  @Test func anyFilePassesByDefault() {
    for kind in AttachmentKind.allCases {
      #expect(check(kind, .max, "a/b", AttachmentLimits()) == nil)
      #expect(check(kind, nil, nil, AttachmentLimits()) == nil)
    }
  }

  @Test func aFileUpToItsRulePasses() {
    #expect(check(.image, 2_000_000) == nil)
    #expect(check(.image, 2_000_001) == .tooLarge(.image, byteCount: 2_000_001, limit: 2_000_000))
    #expect(check(.document, 10_000_000) == nil)
    #expect(
      check(.document, 10_000_001) == .tooLarge(.document, byteCount: 10_000_001, limit: 10_000_000)
    )
    for kind in [AttachmentKind.video, .audio, .other] { #expect(check(kind, .max) == nil) }
    for kind in AttachmentKind.allCases { #expect(check(kind, nil) == nil) }
  }

  @Test func onlyAllowedTypesPass() {
    var limits = AttachmentLimits.tight
    limits.rules[.image]?.mimeTypes = ["image/jpeg", "image/PNG"]
    for type in ["image/jpeg", "IMAGE/JPEG", "image/png", "image/jpeg; q=1"] {
      #expect(check(.image, 1, type, limits) == nil)
    }
    for type in ["image/gif", "", nil] {
      #expect(check(.image, 1, type, limits) == .typeNotAllowed(.image, mimeType: type))
    }
    #expect(check(.video, 1, "image/gif", limits) == nil)
  }

  @Test func previewAndHashAreShort() {
    let limits = AttachmentLimits()
    var attachment = MessageAttachment(
      id: "a", kind: .image, contentHash: Array(repeating: 1, count: 64),
      preview: Array(repeating: 1, count: 2048))
    #expect(limits.check(attachment) == nil)
    attachment.preview?.append(1)
    #expect(limits.check(attachment) == .fieldTooLong(.preview, byteCount: 2049, limit: 2048))
    attachment.contentHash?.append(1)
    #expect(limits.check(attachment) == .fieldTooLong(.contentHash, byteCount: 65, limit: 64))
    // Received ones are kept nevertheless.
    #expect(attachment.storageProblem == nil)
  }

  @Test func anIDHas1To255Bytes() {
    for (id, isRight) in [("", false), ("a", true), (String(repeating: "é", count: 128), false)] {
      let attachment = MessageAttachment(id: id, kind: .other)
      let problem = isRight ? nil : AttachmentProblem.invalidID(byteCount: id.utf8.count)
      #expect(attachment.storageProblem == problem)
      #expect(AttachmentLimits().check(attachment) == problem)
    }
  }
}
