package import PageFile

/// Keys and values of the index tree that lead from a message's name to the times of its replies.
///
/// See docs/message-format.md, F-14 and F-15.
///
///     key    number of the conversation (4), 0x02
///            digest of the answered name (4)
///            phase (1), time (8): the place of the replies, without its sequence
///     value  number of replies there, see `CellCount`
package enum ReplyKey {
  package static let byteCount = 9 + ThreadMoment.byteCount

  /// Returns the digest of a name.
  @inline(never)
  package static func digest(of id: MessageID) -> UInt32 {
    var name = ByteBuffer(capacity: 32)
    name.append(id)
    return KeyEncoding.digest(name.bytes)
  }

  package static func prefix(_ conversation: UInt32, _ digest: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation, .reply).appending(digest)
  }

  package static func key(
    _ conversation: UInt32, _ digest: UInt32, _ moment: ThreadMoment
  ) -> ByteBuffer {
    prefix(conversation, digest).appending(moment)
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(
    _ key: Bytes
  ) -> (conversation: UInt32, digest: UInt32, moment: ThreadMoment)? {
    guard key.count == byteCount, key.indexKind == .reply,
      let conversation = key.bigEndianNumber(at: 0), let digest = key.bigEndianNumber(at: 5),
      let moment = ThreadMoment(key, at: 9)
    else { return nil }
    return (conversation, digest, moment)
  }
}

extension ReplyKey: RecordIndex {
  /// A reply: the digest of the answered name, and its moment.
  package struct Record: Equatable {
    let conversation: UInt32
    let digest: UInt32
    let moment: ThreadMoment

    init(_ answered: MessageID, _ place: Place, in conversation: UInt32) {
      self.conversation = conversation
      digest = ReplyKey.digest(of: answered)
      moment = ThreadMoment(place)
    }
  }

  package static let isCounted = true

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(key(record.conversation, record.digest, record.moment))
  }
}

extension StoredMessage {
  /// The message that this one is shown as a reply to; nil of one that was retracted or
  /// has expired.
  package var shownReply: MessageID? {
    guard let replyTo, !traits.isLetGo else { return nil }
    return traits.isRetracted && !StoreDefect.hiddenReplyListed.isPlanted ? nil : replyTo
  }
}
