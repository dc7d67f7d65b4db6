/// A property of messages by which a conversation can be read as a thread of its own: all images,
/// all messages with links, and so on.
///
/// The store keeps them right by itself; see ``MessageThread/tagged(_:)``. A message may have
/// several. One that was retracted, here or by the server, has none.
public enum MessageTag: Sendable, Hashable, CaseIterable {
  /// The message has an attachment of the kind ``AttachmentKind/image``.
  case image
  /// The message has an attachment of the kind ``AttachmentKind/video``.
  case video
  /// The message has an attachment of the kind ``AttachmentKind/audio``.
  case audio
  /// The message has an attachment of the kind ``AttachmentKind/document`` or
  /// ``AttachmentKind/other``.
  case file
  /// The text has `http://` or `https://` in it, in letters of any case.
  case link
  /// The text mentions the local member, read or unread.
  ///
  /// ``MessageThread/nextUnreadMention(after:)`` finds the unread ones.
  case mention
}
