import MsgStore

extension SeededGenerator {
  /// An attachment of few different values, so that two often share some and differ in others.
  mutating func attachment(id: String = "a") -> MessageAttachment {
    let texts = ["", "a", "caf\u{E9}", "cafe\u{301}", "имя 👋\u{0}/../\n", "z"]
    func maybe<T>(_ random: inout SeededGenerator, _ values: [T]) -> T? {
      random.chance(40) ? nil : values.randomElement(using: &random)
    }
    let hashes: [[UInt8]] = [[], [0], [1, 2], [1, 2, 3], [255]]
    let numbers: [Int64] = [.min, -1, 0, 1, 300, .max]
    let sizes: [Int32] = [.min, -1, 0, 1, 300, .max]
    let times = [0, 7, 7_258_118_399_999_999].map { Timestamp(microseconds: $0) }
    var attachment = MessageAttachment(
      id: id, kind: AttachmentKind.allCases.randomElement(using: &self) ?? .other,
      remoteURL: maybe(&self, texts), thumbnailURL: maybe(&self, texts),
      localPath: maybe(&self, texts), fileName: maybe(&self, texts),
      mimeType: maybe(&self, texts), contentHash: maybe(&self, hashes),
      preview: maybe(&self, hashes), byteCount: maybe(&self, numbers),
      durationMicroseconds: maybe(&self, numbers), width: maybe(&self, sizes),
      height: maybe(&self, sizes))
    // A time without an address means nothing.
    if attachment.remoteURL != nil { attachment.remoteURLAt = maybe(&self, times) }
    if attachment.thumbnailURL != nil { attachment.thumbnailURLAt = maybe(&self, times) }
    return attachment
  }

  mutating func transfer() -> AttachmentTransfer {
    switch Int.random(in: 0..<5, using: &self) {
    case 0: .notRequested
    case 1: .queued
    case 2: .running(doneByteCount: .random(in: 0 ... .max, using: &self))
    case 3: .done
    default:
      .failed(
        SendFailure(.noConnection, code: chance(50) ? -7 : nil, text: "нет"),
        count: .random(in: 0 ... .max, using: &self))
    }
  }
}
