/// Limits on attachments sent from this device.
///
/// The limits apply to the file that is uploaded, as the attachment describes it at that moment. A
/// picture may be larger until it has been prepared; its upload then waits for
/// `StoreWriter.prepareUpload`. Limits are checked when a message is composed or an upload is
/// prepared. An attachment that passed once is sent even if a later version of the program has
/// lower limits. Received attachments are not checked against these limits, only against
/// `MessageAttachment.storageProblem`.
public struct AttachmentLimits: Sendable, Equatable {
  /// The limits for one kind of attachment.
  public struct Rule: Sendable, Equatable {
    /// The most bytes in the file; nil allows any number.
    public var maximumByteCount: Int64?
    /// The MIME types that may be sent; nil allows all.
    ///
    /// The comparison ignores case and any parameters after a semicolon.
    public var mimeTypes: Set<String>?

    /// Creates a rule, which allows everything by default.
    public init(maximumByteCount: Int64? = nil, mimeTypes: Set<String>? = nil) {
      self.maximumByteCount = maximumByteCount
      self.mimeTypes = mimeTypes
    }
  }

  /// The rules by kind; a kind without a rule is unrestricted.
  public var rules: [AttachmentKind: Rule]
  /// The most bytes in an inline preview.
  public var maximumPreviewByteCount: Int
  /// The most bytes in a content hash.
  public var maximumContentHashByteCount: Int

  /// Creates limits; by default files of any size and type are allowed.
  ///
  /// - Parameters:
  ///   - rules: The rules by kind, those of the server.
  ///   - maximumPreviewByteCount: The most bytes in an inline preview.
  ///   - maximumContentHashByteCount: The most bytes in a content hash.
  public init(
    rules: [AttachmentKind: Rule] = [:],
    maximumPreviewByteCount: Int = 2048, maximumContentHashByteCount: Int = 64
  ) {
    self.rules = rules
    self.maximumPreviewByteCount = maximumPreviewByteCount
    self.maximumContentHashByteCount = maximumContentHashByteCount
  }

  /// Returns the reason why an attachment, as described, may not be uploaded; nil if it may.
  ///
  /// An unknown byte count passes. An unknown type is refused if the rule allows only some types.
  public func check(_ attachment: MessageAttachment) -> AttachmentProblem? {
    if let problem = attachment.storageProblem { return problem }
    if let hash = attachment.contentHash, hash.count > maximumContentHashByteCount {
      return .fieldTooLong(.contentHash, byteCount: hash.count, limit: maximumContentHashByteCount)
    }
    if let preview = attachment.preview, preview.count > maximumPreviewByteCount {
      return .fieldTooLong(.preview, byteCount: preview.count, limit: maximumPreviewByteCount)
    }
    guard let rule = rules[attachment.kind] else { return nil }
    if let limit = rule.maximumByteCount, let byteCount = attachment.byteCount, byteCount > limit {
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

  /// Returns a MIME type without its parameters, in lower case.
  private static func essence(_ type: String) -> String {
    String(type.prefix { $0 != ";" }.filter { !$0.isWhitespace }).lowercased()
  }
}

/// The reason why an attachment is refused.
public enum AttachmentProblem: Error, Sendable, Equatable {
  /// The fields that have a length limit.
  public enum Field: Sendable, Hashable, CaseIterable {
    /// `MessageAttachment.remoteURL`.
    case remoteURL
    /// `MessageAttachment.thumbnailURL`.
    case thumbnailURL
    /// `MessageAttachment.localPath`.
    case localPath
    /// `MessageAttachment.fileName`.
    case fileName
    /// `MessageAttachment.mimeType`.
    case mimeType
    /// `MessageAttachment.contentHash`.
    case contentHash
    /// `MessageAttachment.preview`.
    case preview
  }

  /// The id is empty or has more than 240 bytes.
  case invalidID(byteCount: Int)
  /// A field exceeds its length limit.
  case fieldTooLong(Field, byteCount: Int, limit: Int)
  /// The file is larger than its kind allows.
  case tooLarge(AttachmentKind, byteCount: Int64, limit: Int64)
  /// The type is not among those allowed for its kind; nil if the type is unknown.
  case typeNotAllowed(AttachmentKind, mimeType: String?)
}

extension AttachmentProblem: CustomStringConvertible {
  /// The problem as a sentence.
  public var description: String {
    switch self {
    case .invalidID(let byteCount): "its id has \(byteCount) bytes; 1 to 240 are allowed"
    case .fieldTooLong(let field, let byteCount, let limit):
      "its \(field) has \(byteCount) bytes; the limit is \(limit)"
    case .tooLarge(let kind, let byteCount, let limit):
      "the \(kind) has \(byteCount) bytes; the limit is \(limit)"
    case .typeNotAllowed(let kind, let type):
      "the type \(type ?? "unknown") is not allowed for the kind \(kind)"
    }
  }
}

extension MessageAttachment {
  /// The reason why no store can keep this attachment, even a received one; nil if it can be
  /// stored.
  ///
  /// The id must have 1 to 240 bytes. All other strings, the hash, and the preview may have at most
  /// 64 KiB each.
  public var storageProblem: AttachmentProblem? {
    guard (1...Self.maximumIDByteCount).contains(id.utf8.count) else {
      return .invalidID(byteCount: id.utf8.count)
    }
    let fields: [(AttachmentProblem.Field, Int?)] = [
      (.remoteURL, remoteURL?.utf8.count), (.thumbnailURL, thumbnailURL?.utf8.count),
      (.localPath, localPath?.utf8.count), (.fileName, fileName?.utf8.count),
      (.mimeType, mimeType?.utf8.count), (.contentHash, contentHash?.count),
      (.preview, preview?.count),
    ]
    for case (let field, let byteCount?) in fields where byteCount > Self.maximumFieldByteCount {
      return .fieldTooLong(field, byteCount: byteCount, limit: Self.maximumFieldByteCount)
    }
    return nil
  }
}
