/// What an attachment may be that is sent from here.
///
/// Limits bind what will be uploaded, as the attachment describes it then: a picture may be larger
/// until it has been prepared. Its upload waits for `StoreWriter.prepareUpload` then. Limits hold where
/// something is composed or prepared; what was accepted once goes out, also when a later version of the
/// program has smaller ones. What is received is never held against them, only against what can be
/// stored (`Attachment.storageProblem`).
public struct AttachmentLimits: Sendable, Hashable {
  /// What one kind of attachments may be.
  public struct Rule: Sendable, Hashable {
    /// The most bytes of the file; nil: any number.
    public var byteCountMax: Int64?
    /// The MIME types that may be sent; nil: all.
    ///
    /// Letters are compared without regard to their case, and parameters behind a semicolon do not
    /// count.
    public var mimeTypes: Set<String>?

    /// A rule; without arguments one that allows everything.
    public init(byteCountMax: Int64? = nil, mimeTypes: Set<String>? = nil) {
      self.byteCountMax = byteCountMax
      self.mimeTypes = mimeTypes
    }
  }

  /// The rules by kind; a kind without one may be anything.
  public var rules: [AttachmentKind: Rule]
  /// The most bytes of an inline preview.
  public var previewByteCountMax: Int
  /// The most bytes of a content hash.
  public var contentHashByteCountMax: Int

  /// Limits; by default pictures of up to 2 MB and documents of up to 10 MB, all types.
  ///
  /// A megabyte is 1,000,000 bytes here, as where people are shown the sizes of files, so what is
  /// allowed passes a server that counts 1,048,576 too.
  public init(
    rules: [AttachmentKind: Rule] = [
      .image: Rule(byteCountMax: 2_000_000), .document: Rule(byteCountMax: 10_000_000),
    ],
    previewByteCountMax: Int = 2048, contentHashByteCountMax: Int = 64
  ) {
    self.rules = rules
    self.previewByteCountMax = previewByteCountMax
    self.contentHashByteCountMax = contentHashByteCountMax
  }

  /// Why an attachment may not be uploaded as it is described; nil when it may.
  ///
  /// A byte count that is not known yet passes; a type that is not known does not where only some
  /// are allowed.
  public func check(_ attachment: Attachment) -> AttachmentProblem? {
    if let problem = attachment.storageProblem { return problem }
    if let hash = attachment.contentHash, hash.count > contentHashByteCountMax {
      return .fieldTooLong(.contentHash, byteCount: hash.count, limit: contentHashByteCountMax)
    }
    if let preview = attachment.preview, preview.count > previewByteCountMax {
      return .fieldTooLong(.preview, byteCount: preview.count, limit: previewByteCountMax)
    }
    guard let rule = rules[attachment.kind] else { return nil }
    if let limit = rule.byteCountMax, let byteCount = attachment.byteCount, byteCount > limit {
      return .tooLarge(attachment.kind, byteCount: byteCount, limit: limit)
    }
    if let allowed = rule.mimeTypes {
      let type = attachment.mimeType.map(Self.essence)
      guard let type, allowed.contains(where: { Self.essence($0) == type }) else {
        return .typeNotAllowed(attachment.kind, mimeType: attachment.mimeType)
      }
    }
    return nil
  }

  /// A MIME type without its parameters, in lower case.
  private static func essence(_ type: String) -> String {
    String(type.prefix { $0 != ";" }.filter { !$0.isWhitespace }).lowercased()
  }
}

/// What is wrong with an attachment.
public enum AttachmentProblem: Error, Sendable, Hashable {
  /// The fields whose length is limited.
  public enum Field: Sendable, Hashable, CaseIterable {
    /// `Attachment.remoteURL`.
    case remoteURL
    /// `Attachment.thumbnailURL`.
    case thumbnailURL
    /// `Attachment.localPath`.
    case localPath
    /// `Attachment.fileName`.
    case fileName
    /// `Attachment.mimeType`.
    case mimeType
    /// `Attachment.contentHash`.
    case contentHash
    /// `Attachment.preview`.
    case preview
  }

  /// The id is empty or has more than 240 bytes.
  case invalidID(byteCount: Int)
  /// A field has too many bytes.
  case fieldTooLong(Field, byteCount: Int, limit: Int)
  /// The file has more bytes than one of its kind may have.
  case tooLarge(AttachmentKind, byteCount: Int64, limit: Int64)
  /// The type is none of those that are allowed for its kind; nil: it is not known.
  case typeNotAllowed(AttachmentKind, mimeType: String?)
}

extension Attachment {
  /// Why no store can keep it, whoever sent it; nil when one can.
  ///
  /// The id has 1 to 240 bytes, all other texts, the hash, and the preview have at most 64 KiB.
  public var storageProblem: AttachmentProblem? {
    guard (1...Self.idByteCountMax).contains(id.utf8.count) else {
      return .invalidID(byteCount: id.utf8.count)
    }
    let fields: [(AttachmentProblem.Field, Int?)] = [
      (.remoteURL, remoteURL?.utf8.count), (.thumbnailURL, thumbnailURL?.utf8.count),
      (.localPath, localPath?.utf8.count), (.fileName, fileName?.utf8.count),
      (.mimeType, mimeType?.utf8.count), (.contentHash, contentHash?.count),
      (.preview, preview?.count),
    ]
    for case (let field, let byteCount?) in fields where byteCount > Self.fieldByteCountMax {
      return .fieldTooLong(field, byteCount: byteCount, limit: Self.fieldByteCountMax)
    }
    return nil
  }
}
