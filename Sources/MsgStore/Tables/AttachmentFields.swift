/// A set of fields of an attachment.
package struct AttachmentFields: OptionSet, Equatable, Sendable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  static let remoteURL = AttachmentFields(rawValue: 1)
  static let thumbnailURL = AttachmentFields(rawValue: 2)
  static let localPath = AttachmentFields(rawValue: 4)
  static let fileName = AttachmentFields(rawValue: 8)
  static let mimeType = AttachmentFields(rawValue: 16)
  static let contentHash = AttachmentFields(rawValue: 32)
  static let preview = AttachmentFields(rawValue: 64)
  static let byteCount = AttachmentFields(rawValue: 128)
  static let duration = AttachmentFields(rawValue: 256)
  static let width = AttachmentFields(rawValue: 512)
  static let height = AttachmentFields(rawValue: 1024)
  /// Every attachment has a kind.
  ///
  /// It counts as a field only if it is not `.other`.
  static let kind = AttachmentFields(rawValue: 2048)

  /// The fields that a record may omit.
  static let stored = AttachmentFields(rawValue: 2047)
  /// The fields that a server can confirm: all but the local path.
  package static let composable = AttachmentFields(rawValue: 4095).subtracting(.localPath)

  /// Creates the set of fields, except for the kind, that have a value in an attachment.
  init(of attachment: MessageAttachment) {
    self = []
    if attachment.remoteURL != nil { insert(.remoteURL) }
    if attachment.thumbnailURL != nil { insert(.thumbnailURL) }
    if attachment.localPath != nil { insert(.localPath) }
    if attachment.fileName != nil { insert(.fileName) }
    if attachment.mimeType != nil { insert(.mimeType) }
    if attachment.contentHash != nil { insert(.contentHash) }
    if attachment.preview != nil { insert(.preview) }
    if attachment.byteCount != nil { insert(.byteCount) }
    if attachment.durationMicroseconds != nil { insert(.duration) }
    if attachment.width != nil { insert(.width) }
    if attachment.height != nil { insert(.height) }
  }

  /// Returns the fields that have a value in an attachment, with the kind unless it is `.other`.
  static func told(by attachment: MessageAttachment) -> AttachmentFields {
    let fields = AttachmentFields(of: attachment)
    return attachment.kind == .other ? fields : fields.union(.kind)
  }
}

extension MessageAttachment {
  /// Returns the attachment with these fields only.
  func keeping(_ fields: AttachmentFields) -> MessageAttachment {
    func kept<T>(_ field: AttachmentFields, _ value: T?) -> T? {
      fields.contains(field) ? value : nil
    }
    return MessageAttachment(
      id: id, kind: fields.contains(.kind) ? kind : .other,
      remoteURL: kept(.remoteURL, remoteURL), thumbnailURL: kept(.thumbnailURL, thumbnailURL),
      localPath: kept(.localPath, localPath), fileName: kept(.fileName, fileName),
      mimeType: kept(.mimeType, mimeType), contentHash: kept(.contentHash, contentHash),
      preview: kept(.preview, preview), byteCount: kept(.byteCount, byteCount),
      durationMicroseconds: kept(.duration, durationMicroseconds), width: kept(.width, width),
      height: kept(.height, height), remoteURLAt: kept(.remoteURL, remoteURLAt),
      thumbnailURLAt: kept(.thumbnailURL, thumbnailURLAt))
  }

  /// Returns the attachment with its missing fields filled in from another one.
  func filled(from other: MessageAttachment) -> MessageAttachment {
    MessageAttachment(
      id: id, kind: kind == .other ? other.kind : kind, remoteURL: remoteURL ?? other.remoteURL,
      thumbnailURL: thumbnailURL ?? other.thumbnailURL, localPath: localPath ?? other.localPath,
      fileName: fileName ?? other.fileName, mimeType: mimeType ?? other.mimeType,
      contentHash: contentHash ?? other.contentHash, preview: preview ?? other.preview,
      byteCount: byteCount ?? other.byteCount,
      durationMicroseconds: durationMicroseconds ?? other.durationMicroseconds,
      width: width ?? other.width, height: height ?? other.height,
      remoteURLAt: remoteURL == nil ? other.remoteURLAt : remoteURLAt,
      thumbnailURLAt: thumbnailURL == nil ? other.thumbnailURLAt : thumbnailURLAt)
  }
}

extension AttachmentRecord {
  /// Returns this record merged with another record of the same attachment.
  ///
  /// Received values are merged with each other. A value composed here only stands in for one that
  /// was not received, so the result does not depend on the order of arrival.
  func merged(with given: AttachmentRecord) -> AttachmentRecord {
    var all = self
    let received = attachment.keeping(.composable.subtracting(composed))
      .merged(with: given.attachment.keeping(.composable.subtracting(given.composed)))
    let own = attachment.keeping(composed).merged(with: given.attachment.keeping(given.composed))
    all.composed = composed.union(given.composed)
      .subtracting(AttachmentFields.told(by: received))
    all.attachment = received.filled(from: own)
    all.attachment.localPath = attachment.localPath ?? given.attachment.localPath
    all.index = min(index, given.index)
    for direction in TransferDirection.allCases where all[direction] == .notRequested {
      all[direction] = given[direction]
      all.failureCounts[direction] = max(
        failureCounts[direction], given.failureCounts[direction])
    }
    return all
  }
}
