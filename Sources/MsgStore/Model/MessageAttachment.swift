/// A file that comes with a message: its metadata, not its bytes.
///
/// The bytes stay where the client keeps them; `localPath` holds that location. Everything but the
/// id and the kind is optional and may be filled in later. Strings are kept exactly and compared as
/// bytes.
public struct MessageAttachment: Sendable {
  /// The identifier, unique within its message: 1 to 240 bytes of UTF-8.
  public var id: String
  /// The kind of file.
  public var kind: AttachmentKind
  /// The address from which the bytes can be fetched.
  public var remoteURL: String?
  /// The address from which a thumbnail can be fetched.
  public var thumbnailURL: String?
  /// The time of `remoteURL`, such as that of its signature; nil if unknown.
  ///
  /// Of two addresses told of one attachment the newer stays, so a signed one that has expired
  /// gives way. Means nothing without an address.
  public var remoteURLAt: Timestamp?
  /// The time of `thumbnailURL`, which works as `remoteURLAt` does.
  public var thumbnailURLAt: Timestamp?
  /// The location of the bytes on this device, which is never sent to another device.
  public var localPath: String?
  /// The name of the file as its sender had it; may contain any characters.
  public var fileName: String?
  /// The MIME type, such as `image/jpeg`.
  public var mimeType: String?
  /// A digest of the bytes, used to recognise the same file again; at most 64 bytes by default, see
  /// `AttachmentLimits`.
  public var contentHash: [UInt8]?
  /// A tiny picture to show until a better one is available; at most 2,048 bytes by default, see
  /// `AttachmentLimits`.
  public var preview: [UInt8]?
  /// The size of the file in bytes.
  public var byteCount: Int64?
  /// The playing time in microseconds.
  public var durationMicroseconds: Int64?
  /// The width in pixels.
  public var width: Int32?
  /// The height in pixels.
  public var height: Int32?

  /// The most bytes in an id.
  public static let maximumIDByteCount = 240
  /// The most bytes in any other string, in the hash, or in the preview that can be stored.
  public static let maximumFieldByteCount = 64 << 10

  /// Creates an attachment; omitted fields are unknown.
  @inline(never)
  public init(
    id: String, kind: AttachmentKind, remoteURL: String? = nil, thumbnailURL: String? = nil,
    localPath: String? = nil, fileName: String? = nil, mimeType: String? = nil,
    contentHash: [UInt8]? = nil, preview: [UInt8]? = nil, byteCount: Int64? = nil,
    durationMicroseconds: Int64? = nil, width: Int32? = nil, height: Int32? = nil,
    remoteURLAt: Timestamp? = nil, thumbnailURLAt: Timestamp? = nil
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
    self.remoteURLAt = remoteURLAt
    self.thumbnailURLAt = thumbnailURLAt
  }
}

/// The kind of an attachment.
///
/// More specific kinds have greater values, so that they win when two attachments are merged.
public enum AttachmentKind: UInt8, Sendable, Hashable, CaseIterable {
  /// Unknown, or none of the others.
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

extension MessageAttachment: Hashable {
  /// Compares all fields; strings are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.id.hasSameBytes(as: b.id) && a.kind == b.kind && same(a.remoteURL, b.remoteURL)
      && same(a.thumbnailURL, b.thumbnailURL) && same(a.localPath, b.localPath)
      && same(a.fileName, b.fileName) && same(a.mimeType, b.mimeType)
      && a.contentHash == b.contentHash && a.preview == b.preview && a.byteCount == b.byteCount
      && a.durationMicroseconds == b.durationMicroseconds && a.width == b.width
      && a.height == b.height && a.remoteURLAt == b.remoteURLAt
      && a.thumbnailURLAt == b.thumbnailURLAt
  }

  private static func same(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.hasSameBytes(as: b)
  }

  /// Hashes the fields that usually distinguish attachments.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(kind)
    hasher.combine(contentHash)
    hasher.combine(remoteURL)
    hasher.combine(byteCount)
  }
}

extension MessageAttachment {
  /// Returns this attachment merged with a received version of it, which has the same id.
  ///
  /// The merge works field by field. A known value replaces an unknown one; of two known values the
  /// greater one wins, where strings and byte arrays compare as bytes. Of two addresses the one
  /// with the later time wins; one without a time is earlier than any other. The result therefore
  /// does not depend on the order, repetition, or grouping of received versions. The local path
  /// belongs to this device and is kept.
  public func merged(with received: MessageAttachment) -> MessageAttachment {
    var all = self
    if kind.rawValue < received.kind.rawValue { all.kind = received.kind }
    (all.remoteURL, all.remoteURLAt) = Self.newer(
      (remoteURL, remoteURLAt), (received.remoteURL, received.remoteURLAt))
    (all.thumbnailURL, all.thumbnailURLAt) = Self.newer(
      (thumbnailURL, thumbnailURLAt), (received.thumbnailURL, received.thumbnailURLAt))
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

  /// Returns the address with the later time, or the greater one of two of the same time.
  private static func newer(
    _ a: (url: String?, time: Timestamp?), _ b: (url: String?, time: Timestamp?)
  ) -> (String?, Timestamp?) {
    guard let own = a.url, let other = b.url else {
      return a.url != nil ? a : (b.url, b.url == nil ? nil : b.time)
    }
    if a.time != b.time, !StoreDefect.olderURLWins.isPlanted {
      guard let time = a.time else { return b }
      return b.time.map { $0 > time } ?? false ? b : a
    }
    return own.precedesByBytes(other) ? b : a
  }

  private static func greater(_ a: String?, _ b: String?) -> String? {
    greater(a, b) { $0.precedesByBytes($1) }
  }

  private static func greater<T>(_ a: T?, _ b: T?, _ precedes: (T, T) -> Bool) -> T? {
    guard let a, let b else { return a ?? b }
    return precedes(a, b) ? b : a
  }
}
