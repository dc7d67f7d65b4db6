import PageFile

/// A reader of the replies tree.
package struct ReplyIndex {
  let view: StoreView

  /// Returns the message that a record is shown as a reply to; nil if it is no reply,
  /// was retracted, or has expired.
  func shownReply(of record: MessageRecord) throws(StoreError) -> MessageID? {
    guard record.flags.contains(.reply) else { return nil }
    guard let traits = record.traits() else {
      throw view.corrupt(Schema.messages, "reply: malformed traits")
    }
    let isHidden = traits.isRetracted && !StoreDefect.hiddenReplyListed.isPlanted
    return isHidden || traits.isLetGo ? nil : record.replyTo
  }

  /// Returns the moments of a digest's entries from one on, in order, forwards or backwards.
  ///
  /// - Parameter isInclusive: True to begin with the moment itself, if it has an entry.
  func moments(
    of digest: UInt32, in conversation: UInt32, from moment: ThreadMoment, isInclusive: Bool,
    isForward: Bool, maximumCount: Int
  ) throws(StoreError) -> [ThreadMoment] {
    var found: [ThreadMoment] = []
    var cursor = Cursor(view.source, Schema.replies)
    let prefix = ReplyKey.prefix(conversation, digest)
    let start = ReplyKey.key(conversation, digest, moment)
    let isEqual = try storage { () throws(PageFileError) in
      isForward ? try cursor.seek(start.bytes) : try cursor.seekBack(start.bytes)
    }
    if isEqual, !isInclusive { try step(&cursor, isForward) }
    var key = ByteBuffer(capacity: 32)
    while found.count < maximumCount, cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let parts = ReplyKey.parts(key.bytes) else {
        throw view.corrupt(Schema.replies, "malformed key (\(key.count) bytes)")
      }
      found.append(parts.moment)
      try step(&cursor, isForward)
    }
    return found
  }

  private func step(_ cursor: inout Cursor, _ isForward: Bool) throws(StoreError) {
    try storage { () throws(PageFileError) in
      _ = isForward ? try cursor.next() : try cursor.previous()
    }
  }
}

extension StoreView {
  package var replies: ReplyIndex { ReplyIndex(view: self) }
}
