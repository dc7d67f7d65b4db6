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

  /// Creates a state, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - conversation: The conversation of the message.
  ///   - message: The message that has the attachment.
  ///   - attachment: The attachment's metadata.
  ///   - upload: The progress of the bytes to the server.
  ///   - download: The progress of the bytes to this device.
  public init(
    conversation: ConversationID, message: MessageID, attachment: MessageAttachment,
    upload: AttachmentTransfer, download: AttachmentTransfer
  ) {
    self.conversation = conversation
    self.message = message
    self.attachment = attachment
    self.upload = upload
    self.download = download
  }
}
