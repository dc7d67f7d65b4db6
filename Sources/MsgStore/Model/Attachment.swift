/// What a message has with it besides its text: facts about a file, not the file.
///
/// The bytes stay where the client keeps them; `localPath` says where. Everything but the id and the
/// kind may be missing, and comes as it is known. Texts are kept exactly and compared as bytes.
public struct Attachment: Sendable {
  /// Its name, unique in its message: 1 to 240 bytes of UTF-8.
  public var id: String
  /// What it is.
  public var kind: AttachmentKind
  /// Where the bytes can be fetched from.
  public var remoteURL: String?
  /// Where a small picture of it can be fetched from.
  public var thumbnailURL: String?
  /// Where this device keeps the bytes; a fact of this device, which no other one is told.
  public var localPath: String?
  /// The name of the file as its sender had it: any characters.
  public var fileName: String?
  /// Its type, such as `image/jpeg`.
  public var mimeType: String?
  /// A digest of its bytes, by which the same file is found again; at most 64 bytes by
  /// `AttachmentLimits`.
  public var contentHash: [UInt8]?
  /// A tiny picture to show until there is a better one; at most 2,048 bytes by `AttachmentLimits`.
  public var preview: [UInt8]?
  /// How many bytes the file has.
  public var byteCount: Int64?
  /// How long it plays, in microseconds.
  public var durationMicroseconds: Int64?
  /// Its width in pixels.
  public var width: Int32?
  /// Its height in pixels.
  public var height: Int32?

  /// The most bytes that an id may have.
  public static let idByteCountMax = 240
  /// The most bytes that any other text, the hash, or the preview may have to be stored.
  public static let fieldByteCountMax = 64 << 10

  /// An attachment of which what is not given is not known.
  public init(
    id: String, kind: AttachmentKind, remoteURL: String? = nil, thumbnailURL: String? = nil,
    localPath: String? = nil, fileName: String? = nil, mimeType: String? = nil,
    contentHash: [UInt8]? = nil, preview: [UInt8]? = nil, byteCount: Int64? = nil,
    durationMicroseconds: Int64? = nil, width: Int32? = nil, height: Int32? = nil
  ) {
    self.id = id
    self.kind = kind
    self.remoteURL = remoteURL
    self.thumbnailURL = thumbnailURL
    self.localPath = localPath
    self.fileName = fileName
    self.mimeType = mimeType
    self.contentHash = contentHash
    self.preview = preview
    self.byteCount = byteCount
    self.durationMicroseconds = durationMicroseconds
    self.width = width
    self.height = height
  }
}

/// What an attachment is.
///
/// A kind that says more has a greater number, so that it wins where two are merged.
public enum AttachmentKind: UInt8, Sendable, Hashable, CaseIterable {
  /// None of the others, or not known.
  case other = 0
  /// A still picture.
  case image = 1
  /// A moving picture.
  case video = 2
  /// Sound, such as a voice message.
  case audio = 3
  /// Any other file that a person opens.
  case document = 4
}

extension Attachment: Hashable {
  /// Equality of all fields; texts are equal when their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.id.hasSameBytes(as: b.id) && a.kind == b.kind && same(a.remoteURL, b.remoteURL)
      && same(a.thumbnailURL, b.thumbnailURL) && same(a.localPath, b.localPath)
      && same(a.fileName, b.fileName) && same(a.mimeType, b.mimeType)
      && a.contentHash == b.contentHash && a.preview == b.preview && a.byteCount == b.byteCount
      && a.durationMicroseconds == b.durationMicroseconds && a.width == b.width
      && a.height == b.height
  }

  private static func same(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.hasSameBytes(as: b)
  }

  /// Feeds what tells attachments apart to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(kind)
    hasher.combine(contentHash)
    hasher.combine(remoteURL)
    hasher.combine(byteCount)
  }
}

extension Attachment {
  /// What is known of the attachment with what was received of it.
  ///
  /// Field by field: what is known replaces what is not, and of two values the greater one stays, of
  /// texts and bytes by their bytes. So the order of what is received does not matter, nor how often
  /// it comes, nor which parts come together. The local path is a fact of this device and stays as
  /// it is. Both have the same id.
  public func merged(with received: Attachment) -> Attachment {
    var all = self
    if kind.rawValue < received.kind.rawValue { all.kind = received.kind }
    all.remoteURL = Self.greater(remoteURL, received.remoteURL)
    all.thumbnailURL = Self.greater(thumbnailURL, received.thumbnailURL)
    all.fileName = Self.greater(fileName, received.fileName)
    all.mimeType = Self.greater(mimeType, received.mimeType)
    all.contentHash = Self.greater(contentHash, received.contentHash) {
      $0.lexicographicallyPrecedes($1)
    }
    all.preview = Self.greater(preview, received.preview) { $0.lexicographicallyPrecedes($1) }
    all.byteCount = Self.greater(byteCount, received.byteCount, <)
    all.durationMicroseconds = Self.greater(
      durationMicroseconds, received.durationMicroseconds, <)
    all.width = Self.greater(width, received.width, <)
    all.height = Self.greater(height, received.height, <)
    return all
  }

  private static func greater(_ a: String?, _ b: String?) -> String? {
    greater(a, b) { $0.precedesByBytes($1) }
  }

  private static func greater<T>(_ a: T?, _ b: T?, _ precedes: (T, T) -> Bool) -> T? {
    guard let a, let b else { return a ?? b }
    return precedes(a, b) ? b : a
  }
}
