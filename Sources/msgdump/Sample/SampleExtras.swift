import MsgStore
import MsgStoreTools

/// Rare properties of messages in the sample chat.
extension ExportedMessage {
  /// Edits the message, half a minute after it was sent.
  mutating func edit(after text: String) {
    var original = ExportedVersion()
    original.text = text
    facts.history = [original]
    editedAt = later(30_000_000)
  }

  /// Marks the message as taken back by its sender.
  mutating func takeBack() {
    text = ""
    replyTo = nil
    isRetracted = true
    retractedAt = later(90_000_000)
  }

  /// Adds a member's reaction, in the order of the members.
  mutating func react(_ emoji: String, by member: MemberID) {
    facts.reactions.append(
      ExportedReaction(Reaction(emoji, from: member, at: later(20_000_000))))
  }

  /// Returns a time some microseconds after the message.
  func later(_ microseconds: Int64) -> Timestamp {
    let time = serverTimestamp ?? localTime ?? Timestamp(microseconds: 0)
    return Timestamp(microseconds: time.microseconds + microseconds)
  }
}

extension SampleScripts {
  static func photo(of name: String, id: String) -> ExportedAttachment {
    var photo = ExportedAttachment(
      MessageAttachment(
        id: id, kind: .image, remoteURL: "https://example.com/\(id)",
        fileName: "\(name) \"at the back\".jpg", mimeType: "image/jpeg",
        contentHash: [0xc0, 0xff, 0xee], byteCount: 184_320, width: 1600, height: 1200))
    photo.download = .done
    return photo
  }

  static func read(
    by member: MemberID, _ microseconds: Int64, after message: ExportedMessage
  ) -> ExportedReceipt {
    var receipt = ExportedReceipt()
    receipt.member = member
    receipt.isRead = true
    receipt.readAt = message.later(microseconds)
    return receipt
  }
}
