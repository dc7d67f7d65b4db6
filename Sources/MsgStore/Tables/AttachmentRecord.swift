package import PageFile

/// The stored form of an attachment: its fields, the state of its transfers, and its index among
/// the attachments of its message.
///
/// See docs/message-format.md, F-10.
///
///     size  field
///        1  tag: 1
///        2  flags: fields that are present, u16
///        1  kind
///      1+n  id, its byte count first
///      1–5  index in the message, varint
///        …  the upload
///        …  the download
///        2  with flag 2048: fields that the server has not confirmed, u16
///     1–10  with flag 4096: failed uploads in a row, varint
///     1–10  with flag 4096: failed downloads in a row, varint
///      …+n  with flags 1 to 64, each: its byte count, varint, and its bytes
///     1–10  with flags 128 to 1024, each: a number, signed varint
///
/// The fields follow in the order of their flags and end the record. The three upper flags are
/// zero.
package struct AttachmentRecord: Hashable {
  package static let tag: UInt8 = 1
  private static let hasComposed: UInt16 = 2048
  private static let hasFailures: UInt16 = 4096
  private static let knownFlags: UInt16 = 8191

  package var attachment: MessageAttachment
  /// The index among the attachments of the message, from 0.
  package var index: UInt32
  package var upload: AttachmentTransfer
  package var download: AttachmentTransfer
  /// The fields that the local member has set and that are not confirmed yet.
  ///
  /// The first received value of such a field replaces it.
  package var composed: AttachmentFields = []
  /// The numbers of consecutive failed attempts.
  ///
  /// They are kept while another attempt runs.
  package var failureCounts = TransferCounts()

  package init(
    _ attachment: MessageAttachment, index: UInt32, upload: AttachmentTransfer = .none,
    download: AttachmentTransfer = .none
  ) {
    self.attachment = attachment
    self.index = index
    self.upload = upload
    self.download = download
    failureCounts = TransferCounts(uploads: upload.failureCount, downloads: download.failureCount)
  }

  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.uint16(), flags <= Self.knownFlags,
      let kindCode = reader.byte(), let kind = AttachmentKind(rawValue: kindCode),
      let idByteCount = reader.byte(), idByteCount > 0,
      let id = reader.take(Int(idByteCount)), id.isValidUTF8,
      let number = reader.varint(), let index = UInt32(exactly: number),
      let upload = AttachmentTransfer(&reader), let download = AttachmentTransfer(&reader)
    else { return nil }
    // Unsafe: validated just before.
    self.init(
      MessageAttachment(id: unsafe id.uncheckedText(), kind: kind), index: index, upload: upload,
      download: download)
    let fields = AttachmentFields(rawValue: flags & AttachmentFields.stored.rawValue)
    guard readHeads(flags, &reader), readFields(fields, &reader), reader.isAtEnd else {
      return nil
    }
  }

  private mutating func readHeads(_ flags: UInt16, _ reader: inout ByteReader) -> Bool {
    if flags & Self.hasComposed != 0 {
      guard let raw = reader.uint16(), raw != 0,
        case let composed = AttachmentFields(rawValue: raw),
        composed.isSubset(of: .composable)
      else { return false }
      self.composed = composed
    }
    if flags & Self.hasFailures != 0 {
      guard let uploads = reader.varint().flatMap(Int.init(exactly:)),
        let downloads = reader.varint().flatMap(Int.init(exactly:)),
        case let counts = TransferCounts(uploads: uploads, downloads: downloads),
        counts != TransferCounts()
      else { return false }
      failureCounts = counts
    }
    return true
  }

  private mutating func readFields(
    _ fields: AttachmentFields, _ reader: inout ByteReader
  ) -> Bool {
    func bytes(_ field: AttachmentFields, _ value: inout [UInt8]?) -> Bool {
      guard fields.contains(field) else { return true }
      value = Self.field(&reader)?.array()
      return value != nil
    }
    func text(_ field: AttachmentFields, _ value: inout String?) -> Bool {
      guard fields.contains(field) else { return true }
      guard let bytes = Self.field(&reader), bytes.isValidUTF8 else { return false }
      // Unsafe: validated just before.
      value = unsafe bytes.uncheckedText()
      return true
    }
    func number<T: FixedWidthInteger>(
      _ field: AttachmentFields, _ value: inout T?
    ) -> Bool {
      guard fields.contains(field) else { return true }
      value = reader.signedVarint().flatMap { T(exactly: $0) }
      return value != nil
    }
    return text(.remoteURL, &attachment.remoteURL)
      && text(.thumbnailURL, &attachment.thumbnailURL) && text(.localPath, &attachment.localPath)
      && text(.fileName, &attachment.fileName) && text(.mimeType, &attachment.mimeType)
      && bytes(.contentHash, &attachment.contentHash) && bytes(.preview, &attachment.preview)
      && number(.byteCount, &attachment.byteCount)
      && number(.duration, &attachment.durationMicroseconds)
      && number(.width, &attachment.width) && number(.height, &attachment.height)
  }

  private static func field(_ reader: inout ByteReader) -> Bytes? {
    guard let byteCount = reader.length(), byteCount <= MessageAttachment.maximumFieldByteCount
    else {
      return nil
    }
    return reader.take(byteCount)
  }

  /// Appends the record.
  ///
  /// The attachment must have no `storageProblem`.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    var flags = AttachmentFields(of: attachment).rawValue
    if !composed.isEmpty { flags |= Self.hasComposed }
    if failureCounts != TransferCounts() { flags |= Self.hasFailures }
    buffer.append(littleEndian: flags)
    buffer.append(attachment.kind.rawValue)
    buffer.append(UInt8(attachment.id.utf8.count))
    buffer.append(attachment.id)
    buffer.append(varint: UInt64(index))
    upload.append(to: &buffer)
    download.append(to: &buffer)
    if !composed.isEmpty { buffer.append(littleEndian: composed.rawValue) }
    if failureCounts != TransferCounts() {
      buffer.append(varint: UInt64(failureCounts.uploads))
      buffer.append(varint: UInt64(failureCounts.downloads))
    }
    for case let text? in [
      attachment.remoteURL, attachment.thumbnailURL, attachment.localPath, attachment.fileName,
      attachment.mimeType,
    ] {
      buffer.append(varint: UInt64(text.utf8.count))
      buffer.append(text)
    }
    for case let bytes? in [attachment.contentHash, attachment.preview] {
      buffer.append(varint: UInt64(bytes.count))
      buffer.append(bytes)
    }
    for case let number? in [
      attachment.byteCount, attachment.durationMicroseconds, attachment.width.map(Int64.init),
      attachment.height.map(Int64.init),
    ] {
      buffer.append(signedVarint: number)
    }
  }
}

extension AttachmentRecord {
  subscript(direction: TransferDirection) -> AttachmentTransfer {
    get { direction == .upload ? upload : download }
    set { if direction == .upload { upload = newValue } else { download = newValue } }
  }

  /// True if a transfer of the attachment is queued or running.
  package var isMoving: Bool {
    TransferDirection.allCases.contains { direction in
      switch self[direction] {
      case .queued, .running: true
      case .none, .done, .failed: false
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
    case (_, .none), (_, .done):
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

extension AttachmentTransfer {
  /// Decodes a transfer.
  ///
  /// Returns nil if the reader is not at a valid one; never traps.
  package init?(_ reader: inout ByteReader) {
    switch reader.byte() {
    case 0: self = .none
    case 1: self = .queued
    case 2:
      guard let number = reader.varint(), let byteCount = Int64(exactly: number) else {
        return nil
      }
      self = .running(doneByteCount: byteCount)
    case 3: self = .done
    case 4:
      guard let number = reader.varint(), let count = Int(exactly: number),
        let failure = SendFailure(&reader)
      else { return nil }
      self = .failed(failure, count: count)
    default: return nil
    }
  }

  /// Appends the transfer.
  ///
  /// A negative count is written as zero.
  package func append(to buffer: inout ByteBuffer) {
    switch self {
    case .none: buffer.append(0)
    case .queued: buffer.append(1)
    case .running(let doneByteCount):
      buffer.append(2)
      buffer.append(varint: UInt64(max(doneByteCount, 0)))
    case .done: buffer.append(3)
    case .failed(let failure, let count):
      buffer.append(4)
      buffer.append(varint: UInt64(max(count, 0)))
      failure.append(to: &buffer)
    }
  }
}
