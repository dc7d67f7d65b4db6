import MsgStore
import MsgStoreTools

/// A message in readable form: one line, and one more for each rare property.
enum MessageText {
  /// Returns the text of the message, or a note that it was deleted.
  ///
  /// The text is as it is stored: the caller makes it safe for a terminal.
  static func line(_ message: Message, _ times: TimeFormat) -> String {
    if message.isRetracted {
      return "(deleted\(message.retractedAt.map { " \(times.text($0))" } ?? ""))"
    }
    let replyMark = message.replyTo.map { "(to \($0.string)) " } ?? ""
    let editMark = message.editedAt.map { " (edited \(times.text($0)))" } ?? ""
    return replyMark + message.text + editMark
  }

  /// Returns the lines for everything beside the text.
  static func notes(_ message: Message, _ times: TimeFormat) -> [String] {
    var notes = message.attachments.map { "[\(attachment($0))]" }
    if !message.mentions.isEmpty { notes.append("names \(list(message.mentions))") }
    var members: [(emoji: String, members: [MemberID])] = []
    for reaction in message.reactions {
      if let index = members.firstIndex(where: { $0.emoji == reaction.emoji }) {
        members[index].members.append(reaction.member)
      } else {
        members.append((reaction.emoji, [reaction.member]))
      }
    }
    notes += members.map { "\($0.emoji.visible) \(list($0.members))" }
    if members.isEmpty {
      notes += message.reactionCounts.map {
        "\($0.emoji.visible) \($0.count.counted("member"))"
      }
    }
    if message.retryCount > 0 || message.retryAt != nil {
      notes.append(
        "tried again \(message.retryCount.counted("time"))"
          + (message.retryAt.map { ", next \(times.text($0))" } ?? ""))
    }
    if let failure = message.failure { notes.append("failed: \(text(failure))") }
    if message.syncStatus == .pending, message.status.isServerKnowledge {
      notes.append("a change waits for the server")
    }
    return notes
  }

  static func attachment(_ attachment: MessageAttachment) -> String {
    var parts = [attachment.kind.name]
    if let name = attachment.fileName { parts.append(name.visible) }
    if let type = attachment.mimeType { parts.append(type.visible) }
    if let width = attachment.width, let height = attachment.height {
      parts.append("\(width)×\(height)")
    }
    if let duration = attachment.durationMicroseconds { parts.append("\(duration / 1000) ms") }
    if let count = attachment.byteCount { parts.append("\(count) bytes") }
    return parts.joined(separator: ", ")
  }

  static func preview(_ preview: ConversationPreview) -> String {
    if preview.isRetracted { return "\(preview.sender): (deleted)" }
    guard preview.text.isEmpty, let attachment = preview.attachment else {
      return "\(preview.sender): \(preview.text)"
    }
    let name = attachment.fileName.isEmpty ? "" : ", \(attachment.fileName)"
    return "\(preview.sender): [\(attachment.kind.name)\(name)]"
  }

  static func text(_ failure: SendFailure) -> String {
    let code = failure.code.map { " \($0)" } ?? ""
    return failure.kind.name + code + (failure.text.isEmpty ? "" : ", \(failure.text.visible)")
  }

  static func list(_ members: [MemberID]) -> String {
    members.map(\.string.visible).joined(separator: ", ")
  }
}
