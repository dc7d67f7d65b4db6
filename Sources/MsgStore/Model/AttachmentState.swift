/// An attachment together with its message and the progress of its transfers.
public struct AttachmentState: Sendable, Hashable {
  /// The conversation of the message.
  public let conversation: ConversationID
  /// The message that has the attachment.
  public let message: MessageID
  /// The attachment's metadata.
  public let attachment: MessageAttachment
  /// The progress of the bytes to the server.
  public let upload: AttachmentTransfer
  /// The progress of the bytes to this device.
  public let download: AttachmentTransfer
}
