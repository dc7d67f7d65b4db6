import PageFile

/// A reader of the index of replies.
package struct ReplyIndex {
  let view: StoreView

  /// Returns the message that a record is shown as a reply to; nil if it is no reply,
  /// was retracted, or has expired.
  func shownReply(of record: MessageRecord) throws(StoreError) -> MessageID? {
    guard record.flags.contains(.reply) else { return nil }
    if !record.flags.contains(.traits) { return record.replyTo }
    if let outline = TraitsOutline(record.traitsBytes) {
      return outline.bits.contains(.expired) ? nil : record.replyTo
    }
    guard let traits = record.traits() else {
      throw view.corrupt(Schema.messages, "reply: malformed traits")
    }
    let isHidden = traits.isRetracted && !StoreDefect.hiddenReplyListed.isPlanted
    return isHidden || traits.isLetGo ? nil : record.replyTo
  }
}

extension StoreView {
  package var replies: ReplyIndex { ReplyIndex(view: self) }
}
