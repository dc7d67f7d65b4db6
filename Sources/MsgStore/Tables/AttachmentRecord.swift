import PageFile

/// The stored form of an attachment: its fields, the state of its transfers, and its index among
/// the attachments of its message.
///
/// See docs/message-format.md, F-10.
package struct AttachmentRecord: Equatable, StoredRecord {
  package static let table = Table(Schema.facts, "attachment")
  package var attachment: MessageAttachment
  /// The index among the attachments of the message, from 0.
  package internal(set) var index: UInt32
  package internal(set) var upload: AttachmentTransfer
  package internal(set) var download: AttachmentTransfer
  /// The fields that the local member has set and that are not confirmed yet.
  ///
  /// The first received value of such a field replaces it.
  package var composed: AttachmentFields = []
  /// The numbers of consecutive failed attempts.
  ///
  /// They are kept while another attempt runs.
  package var failureCounts = TransferCounts()

  package init() { self.init(MessageAttachment(id: "", kind: .other), index: 0) }

  @inline(never)
  package init(
    _ attachment: MessageAttachment, index: UInt32, upload: AttachmentTransfer = .notRequested,
    download: AttachmentTransfer = .notRequested
  ) {
    self.attachment = attachment
    // The time of an address says nothing without it.
    if attachment.remoteURL == nil { self.attachment.remoteURLAt = nil }
    if attachment.thumbnailURL == nil { self.attachment.thumbnailURLAt = nil }
    self.index = index
    self.upload = upload
    self.download = download
    failureCounts = TransferCounts(uploads: upload.failureCount, downloads: download.failureCount)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.uint16)
    fields.code(&attachment.kind, "kind: 0 other, 1 image, 2 video, 3 audio, 4 document")
    fields.name(&attachment.id, "id")
    fields.varint(&index, "index among the attachments of the message")
    fields.part(&upload, "upload")
    fields.part(&download, "download")
    if fields.has(2048, !composed.isEmpty) {
      var unconfirmed = composed.rawValue
      fields.fixed(&unconfirmed, "flags of the fields that the server has not confirmed")
      composed = AttachmentFields(rawValue: unconfirmed)
      fields.require(!composed.isEmpty && composed.isSubset(of: .composable))
    }
    if fields.has(4096, failureCounts != TransferCounts()) {
      fields.varint(&failureCounts.uploads, "failed uploads in a row")
      _ = fields.has(4096, true)
      fields.varint(&failureCounts.downloads, "failed downloads in a row")
      fields.require(failureCounts != TransferCounts())
    } else {
      failureCounts = TransferCounts(uploads: upload.failureCount, downloads: download.failureCount)
    }
    visitBytes(&fields, 1, &attachment.remoteURL, or: "", "remote URL")
    visitBytes(&fields, 2, &attachment.thumbnailURL, or: "", "thumbnail URL")
    visitBytes(&fields, 4, &attachment.localPath, or: "", "local path")
    visitBytes(&fields, 8, &attachment.fileName, or: "", "file name")
    visitBytes(&fields, 16, &attachment.mimeType, or: "", "MIME type")
    visitBytes(&fields, 32, &attachment.contentHash, or: [], "content hash")
    visitBytes(&fields, 64, &attachment.preview, or: [], "preview")
    fields.optional(128, &attachment.byteCount, or: 0) { $0.signedVarint(&$1, "byte count") }
    fields.optional(256, &attachment.durationMicroseconds, or: 0) {
      $0.signedVarint(&$1, "duration in microseconds")
    }
    fields.optional(512, &attachment.width, or: 0) { $0.signedVarint(&$1, "width") }
    fields.optional(1024, &attachment.height, or: 0) { $0.signedVarint(&$1, "height") }
    visitTime(
      &fields, 8192, &attachment.remoteURLAt, of: attachment.remoteURL, "time of the remote URL")
    visitTime(
      &fields, 16384, &attachment.thumbnailURLAt, of: attachment.thumbnailURL,
      "time of the thumbnail URL")
  }

  /// Visits the time of an address, which means nothing without it.
  private func visitTime(
    _ fields: inout (some FieldVisitor & ~Copyable), _ flag: UInt64, _ time: inout Timestamp?,
    of url: String?, _ field: StaticString
  ) {
    guard fields.has(flag, url != nil && time != nil) else { return time = nil }
    fields.require(url != nil)
    var microseconds = time?.microseconds ?? 0
    fields.fixed(&microseconds, field)
    time = Timestamp(microseconds: microseconds)
  }

  private func visitBytes<T: FieldBytes>(
    _ fields: inout (some FieldVisitor & ~Copyable), _ flag: UInt64, _ value: inout T?,
    or empty: T, _ field: StaticString
  ) {
    fields.optional(flag, &value, or: empty) {
      $0.bytes(&$1, .varint, in: 0...MessageAttachment.maximumFieldByteCount, field)
    }
  }
}

extension AttachmentRecord {
  /// Returns the kind in a stored record, of which nothing else is decoded.
  ///
  /// Returns nil if the bytes there are no kind.
  static func kind(_ value: Bytes) -> AttachmentKind? {
    // Behind the tag and the flags.
    guard value.count > 3, value[0] == 1 else { return nil }
    return AttachmentKind(rawValue: value[3])
  }

  subscript(direction: TransferDirection) -> AttachmentTransfer {
    get { direction == .upload ? upload : download }
    set { if direction == .upload { upload = newValue } else { download = newValue } }
  }

  /// True if a transfer of the attachment is queued or running.
  package var isMoving: Bool {
    TransferDirection.allCases.contains { direction in
      switch self[direction] {
      case .queued, .running: true
      case .notRequested, .done, .failed: false
      }
    }
  }

  /// Advances a transfer to its next state.
  ///
  ///  1. A completed transfer stays completed, whatever arrives late. Only `none` resets it.
  ///  2. Each `failed` counts one more failed attempt. `queued` and `running` keep the count;
  ///     `done` and `none` reset it.
  mutating func step(_ direction: TransferDirection, to transfer: AttachmentTransfer) {
    let count = failureCounts[direction]
    switch (self[direction], transfer) {
    case (.done, .queued), (.done, .running), (.done, .failed), (.done, .done): return
    case (_, .notRequested), (_, .done):
      failureCounts[direction] = 0
      self[direction] = transfer
    case (_, .queued):
      self[direction] = transfer
    case (_, .running(let byteCount)):
      self[direction] = .running(doneByteCount: max(byteCount, 0))
    case (_, .failed(let failure, _)):
      let next = count == .max ? count : count + 1
      failureCounts[direction] = next
      self[direction] = .failed(failure, count: next)
    }
  }
}

extension AttachmentTransfer: FieldRecord {
  package init() { self = .notRequested }

  package static let cases: [Self] = [
    .notRequested, .queued, .running(doneByteCount: 0), .done, .failed(SendFailure(), count: 0),
  ]

  private var code: UInt8 {
    switch self {
    case .notRequested: 0
    case .queued: 1
    case .running: 2
    case .done: 3
    case .failed: 4
    }
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.choice(
      &self, code: code, from: 0, of: Self.cases,
      "state: 0 none, 1 queued, 2 running, 3 done, 4 failed")
    switch self {
    case .notRequested, .queued, .done: break
    case .running(var doneByteCount):
      fields.varint(&doneByteCount, "running: number of bytes done")
      self = .running(doneByteCount: doneByteCount)
    case .failed(var failure, var count):
      fields.varint(&count, "failed: number of failures in a row")
      fields.part(&failure, "failed: the last failure ([X-6])")
      self = .failed(failure, count: count)
    }
  }
}
