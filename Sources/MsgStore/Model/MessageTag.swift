/// A property of messages by which a conversation can be read as a thread of its own: all images,
/// all messages with links, all that are starred, and so on.
///
/// The first six the store finds out by itself and keeps right. The others are set by the client,
/// or told by its server; see ``StoreWriter/setTag(_:of:in:)``. A message may have several. One
/// that was retracted, here or by the server, has none. ``MessageThread/tagged(_:)`` reads them.
public enum MessageTag: Sendable, Hashable {
  /// The message has an attachment of the kind ``AttachmentKind/image``.
  case image
  /// The message has an attachment of the kind ``AttachmentKind/video``.
  case video
  /// The message has an attachment of the kind ``AttachmentKind/audio``.
  case audio
  /// The message has an attachment of the kind ``AttachmentKind/document`` or
  /// ``AttachmentKind/other``.
  case file
  /// The text has `http://` or `https://` in it, in letters of any case, or the client has said
  /// that it has a link.
  case link
  /// The text mentions the local member, read or unread.
  ///
  /// ``MessageThread/nextUnreadMention(after:)`` finds the unread ones.
  case mention
  /// The message is pinned.
  ///
  /// ``StoreReading/tagged(_:)`` reads those of all conversations.
  case pinned
  /// The message is starred.
  ///
  /// ``StoreReading/tagged(_:)`` reads those of all conversations.
  case starred
  /// The message has a tag of the client's own, a name of 1 to 255 bytes of UTF-8, compared as
  /// bytes.
  ///
  /// A store has up to ``maximumOwnCount`` such names; a name stays when no message has it any
  /// more.
  case own(String)

  /// The most names of the client's own.
  public static let maximumOwnCount = 16

  /// The tags that are not of the client's own.
  public static let builtIn: [MessageTag] = [
    .image, .video, .audio, .file, .link, .mention, .pinned, .starred,
  ]

  /// Returns true if the tags are the same; names are if their bytes are.
  public static func == (a: MessageTag, b: MessageTag) -> Bool {
    if case .own(let mine) = a, case .own(let theirs) = b { return mine.hasSameBytes(as: theirs) }
    guard let number = a.fixedNumber else { return false }
    return number == b.fixedNumber
  }

  /// Hashes what is compared.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(fixedNumber)
    if case .own(let name) = self { hasher.combine(name) }
  }
}

extension MessageTag {
  /// The number of the tag in keys, and of its bit in sets; nil for one of the client's own.
  package var fixedNumber: UInt8? {
    switch self {
    case .image: 0
    case .video: 1
    case .audio: 2
    case .file: 3
    case .link: 4
    case .mention: 5
    case .pinned: 6
    case .starred: 7
    case .own: nil
    }
  }

  /// The number of the first name of the client's own.
  package static let firstOwnNumber: UInt8 = 16

  /// The tags that can be set, but for the client's own.
  package static let settable: [MessageTag] = [.link, .pinned, .starred]

  /// Throws if the tag cannot be set.
  package func validateSettable() throws(StoreError) {
    if case .own(let name) = self {
      return try Identifier.validate("tag", byteCount: name.utf8.count)
    }
    guard Self.settable.contains(self) else { throw .input(.tag(self)) }
  }
}
