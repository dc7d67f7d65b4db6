package import PageFile

/// An attachment as it is stored: what is known of it, how far its bytes have come, and its place
/// among the attachments of its message.
///
///     size  field
///        1  tag: 1
///        2  flags: which fields are there, u16
///        1  kind
///      1+n  id, its byte count first
///      1–5  index in the message, varint
///        …  the upload
///        …  the download
///      …+n  with flags 1 to 64, each: its byte count, varint, and its bytes
///     1–10  with flags 128 to 1024, each: a number, signed varint
///
/// The fields stand in the order of their flags, up to the end. The four upper flags and flag 2048
/// are zero.
package struct AttachmentRecord: Hashable {
  static let tag: UInt8 = 1

  /// Which fields are there.
  private struct Fields: OptionSet {
    let rawValue: UInt16
    static let remoteURL = Fields(rawValue: 1)
    static let thumbnailURL = Fields(rawValue: 2)
    static let localPath = Fields(rawValue: 4)
    static let fileName = Fields(rawValue: 8)
    static let mimeType = Fields(rawValue: 16)
    static let contentHash = Fields(rawValue: 32)
    static let preview = Fields(rawValue: 64)
    static let byteCount = Fields(rawValue: 128)
    static let duration = Fields(rawValue: 256)
    static let width = Fields(rawValue: 512)
    static let height = Fields(rawValue: 1024)
    static let known: UInt16 = 2047
  }

  package var attachment: Attachment
  /// Where it stands among the attachments of its message, from 0.
  package var index: UInt32
  package var upload: AttachmentTransfer
  package var download: AttachmentTransfer

  package init(
    _ attachment: Attachment, index: UInt32, upload: AttachmentTransfer = .none,
    download: AttachmentTransfer = .none
  ) {
    self.attachment = attachment
    self.index = index
    self.upload = upload
    self.download = download
  }

  /// Reads a record.
  ///
  /// Any bytes may be given; nil when they are no record.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.uint16(), flags <= Fields.known,
      let kindCode = reader.byte(), let kind = AttachmentKind(rawValue: kindCode),
      let idByteCount = reader.byte(), idByteCount > 0,
      let id = reader.take(Int(idByteCount)), id.isValidUTF8,
      let number = reader.varint(), let index = UInt32(exactly: number),
      let upload = AttachmentTransfer(&reader), let download = AttachmentTransfer(&reader)
    else { return nil }
    // Unsafe: validated just before.
    self.init(
      Attachment(id: unsafe id.uncheckedText(), kind: kind), index: index, upload: upload,
      download: download)
    guard readFields(Fields(rawValue: flags), &reader), reader.isAtEnd else { return nil }
  }

  private mutating func readFields(_ fields: Fields, _ reader: inout ByteReader) -> Bool {
    func bytes(_ field: Fields, _ value: inout [UInt8]?) -> Bool {
      guard fields.contains(field) else { return true }
      value = Self.field(&reader)?.array()
      return value != nil
    }
    func text(_ field: Fields, _ value: inout String?) -> Bool {
      guard fields.contains(field) else { return true }
      guard let bytes = Self.field(&reader), bytes.isValidUTF8 else { return false }
      // Unsafe: validated just before.
      value = unsafe bytes.uncheckedText()
      return true
    }
    func number<T: FixedWidthInteger>(_ field: Fields, _ value: inout T?) -> Bool {
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
    guard let byteCount = reader.length(), byteCount <= Attachment.fieldByteCountMax else {
      return nil
    }
    return reader.take(byteCount)
  }

  private var fields: Fields {
    var fields: Fields = []
    if attachment.remoteURL != nil { fields.insert(.remoteURL) }
    if attachment.thumbnailURL != nil { fields.insert(.thumbnailURL) }
    if attachment.localPath != nil { fields.insert(.localPath) }
    if attachment.fileName != nil { fields.insert(.fileName) }
    if attachment.mimeType != nil { fields.insert(.mimeType) }
    if attachment.contentHash != nil { fields.insert(.contentHash) }
    if attachment.preview != nil { fields.insert(.preview) }
    if attachment.byteCount != nil { fields.insert(.byteCount) }
    if attachment.durationMicroseconds != nil { fields.insert(.duration) }
    if attachment.width != nil { fields.insert(.width) }
    if attachment.height != nil { fields.insert(.height) }
    return fields
  }

  /// Writes the record of an attachment without a `storageProblem`.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(littleEndian: fields.rawValue)
    buffer.append(attachment.kind.rawValue)
    buffer.append(UInt8(attachment.id.utf8.count))
    buffer.append(attachment.id)
    buffer.append(varint: UInt64(index))
    upload.append(to: &buffer)
    download.append(to: &buffer)
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
