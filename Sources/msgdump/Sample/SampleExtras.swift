import MsgStore

/// What few messages of the sample chat have.
extension ExportedMessage {
  /// Makes its text the one that it was edited to, half a minute after it was sent.
  mutating func edit(after text: String) {
    var original = ExportedVersion()
    original.text = text
    facts.history = [original]
    editedAt = later(30_000_000)
  }

  /// Has its sender take it back.
  mutating func takeBack() {
    text = ""
    replyTo = nil
    isUnsent = true
    unsentAt = later(90_000_000)
  }

  /// Has a member react, in the order of the members.
  mutating func react(_ emoji: String, by member: MemberID) {
    facts.reactions.append(
      ExportedReaction(Reaction(emoji, from: member, at: later(20_000_000))))
  }

  /// Some microseconds after the message.
  func later(_ microseconds: Int64) -> Timestamp {
    let time = serverTimestamp ?? localTime ?? Timestamp(microseconds: 0)
    return Timestamp(microseconds: time.microseconds + microseconds)
  }
}

extension SampleScripts {
  static func photo(of name: String, id: String) -> ExportedAttachment {
    var photo = ExportedAttachment(
      Attachment(
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
