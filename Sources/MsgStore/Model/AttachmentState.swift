/// An attachment of a message, where it is, and how far its bytes have come.
public struct AttachmentState: Sendable, Hashable {
  /// The conversation of its message.
  public let conversation: ConversationID
  /// Its message.
  public let message: MessageID
  /// What is known of it.
  public let attachment: Attachment
  /// How far its bytes are on their way to the server.
  public let upload: AttachmentTransfer
  /// How far its bytes are on their way to this device.
  public let download: AttachmentTransfer
}
