import MsgStore

/// Makes messages of old rows, as far as they can be used.
extension OldMessage {
  /// Returns the message for the new store, or throws the reason why there is none.
  ///
  /// - Parameters:
  ///   - conversation: The conversation in the new store.
  ///   - now: The present time.
  func message(
    in conversation: ConversationID?, now: Timestamp
  ) throws(RefusalReason) -> Message {
    guard let conversation else { throw .noConversation }
    let id = try id.required(or: .noID)
    let sender = try sender.required(or: .noMember)
    var body = ""
    if case .missing = text, !attachments.isEmpty {
      // A picture needs no text.
    } else {
      body = try text.required(or: .noText)
    }
    guard time > 0 else { throw .noTime }
    let moment = Timestamp(milliseconds: time)
    // Such a message would stand below all that is written from now on.
    guard moment.microseconds - 86_400_000_000 < now.microseconds else { throw .timeInFuture }
    var message = Message(
      id: MessageID(id), in: conversation, from: MemberID(sender), text: body,
      localTime: state == .sent ? nil : moment, serverTimestamp: state == .sent ? moment : nil,
      status: state == .failed ? .held : nil)
    if let replyTo = replyTo.string, !replyTo.isEmpty { message.replyTo = MessageID(replyTo) }
    return message
  }

  /// Adds the reactions and attachments that can be used, and reports the others.
  func addFacts(to message: inout Message, _ report: inout MoveReport) {
    var (kept, files) = ([Reaction](), [MessageAttachment]())
    var seen: Set<[MemberID]> = []
    for reaction in reactions {
      do throws(RefusalReason) {
        let one = try reaction.reaction()
        // Identifiers are compared as bytes, as the store compares emoji.
        guard seen.insert([one.member, MemberID(one.emoji)]).inserted else { throw .duplicateID }
        kept.append(one)
      } catch {
        report.refuse("reaction", reaction.row, error)
      }
    }
    var names: Set<MessageID> = []
    for attachment in attachments {
      do throws(RefusalReason) {
        let file = try attachment.attachment()
        guard names.insert(MessageID(file.id)).inserted else { throw .duplicateID }
        if let problem = file.storageProblem {
          report.refuse("attachment", attachment.row, .refusedByStore, "\(problem)")
        } else {
          files.append(file)
        }
      } catch {
        report.refuse("attachment", attachment.row, error)
      }
    }
    // Setting a rare field costs an allocation, and most messages have none.
    if !kept.isEmpty { message.reactions = kept }
    if !files.isEmpty { message.attachments = files }
  }
}

extension OldReaction {
  fileprivate func reaction() throws(RefusalReason) -> Reaction {
    let member = try member.required(or: .noMember)
    let emoji = try emoji.required(or: .noText)
    guard let time, time > 0 else { throw .noTime }
    // The store would refuse the whole message.
    guard (1...255).contains(member.utf8.count),
      (1...Reaction.maximumEmojiByteCount).contains(emoji.utf8.count)
    else { throw .refusedByStore }
    return Reaction(emoji, from: MemberID(member), at: Timestamp(milliseconds: time))
  }
}

extension OldAttachment {
  fileprivate func attachment() throws(RefusalReason) -> MessageAttachment {
    let id = try id.required(or: .noID)
    return MessageAttachment(
      id: id, kind: kind, remoteURL: url.string, localPath: path.string, mimeType: type.string,
      byteCount: byteCount)
  }

  private var kind: AttachmentKind {
    switch type.string?.split(separator: "/").first {
    case "image": .image
    case "video": .video
    case "audio": .audio
    default: .document
    }
  }
}

extension OldText {
  /// Returns the text, or throws a reason if it is missing.
  fileprivate func required(or reason: RefusalReason) throws(RefusalReason) -> String {
    switch self {
    case .missing: throw reason
    case .notText: throw .notUTF8
    case .text(let text): return text
    }
  }
}

extension OldConversation {
  /// The facts about the conversation.
  ///
  /// They have the time of the old row, so that everything that the server tells later is newer.
  func received(as id: ConversationID) -> ReceivedConversation {
    let time = Timestamp(milliseconds: changedAt)
    var facts = ReceivedConversation(id, at: time)
    facts.kind = isGroup ? .group : .direct
    facts.members = participants.map { ReceivedConversation.Member($0) }
    facts.hasAllMembers = true
    facts.title = title.string.map { .text($0) }
    facts.isMuted = isMuted
    if let text = draft.string, !text.isEmpty { facts.draft = Draft(text: text, time: time) }
    return facts
  }
}
