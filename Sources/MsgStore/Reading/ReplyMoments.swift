import PageFile

/// The moments of the messages that answer one.
///
/// Entries of other names with the same digest lead to messages that are passed over.
struct ReplyMoments: MomentIndex {
  private let view: StoreView
  /// The names by which replies may refer to the answered message.
  private let names: [MessageID]

  init(_ view: StoreView, _ names: [MessageID]) {
    self.view = view
    self.names = names
  }

  /// Of several names each tells its first moments only, so none of the later ones is certain.
  func moments(
    in conversation: UInt32, from moment: ThreadMoment, isInclusive: Bool, isForward: Bool,
    maximumCount: Int
  ) throws(StoreError) -> [ThreadMoment] {
    let digests = Set(names.map(ReplyKey.digest))
    var found: Set<ThreadMoment> = []
    for digest in digests {
      let moments = try view.moments(
        behind: ReplyKey.prefix(conversation, digest), in: Schema.index, from: moment,
        isInclusive: isInclusive, isForward: isForward, maximumCount: maximumCount)
      if digests.count == 1 { return moments }
      found.formUnion(moments)
    }
    let sorted = found.sorted()
    return isForward
      ? Array(sorted.prefix(maximumCount)) : Array(sorted.suffix(maximumCount).reversed())
  }

  func lists(
    _ cursor: inout MessageCursor, _ value: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    guard let record = try cursor.record(&value) else {
      throw view.corrupt(Schema.messages, "replies: malformed message")
    }
    guard let answered = try view.replies.shownReply(of: record) else { return false }
    return names.contains(answered)
  }
}

extension StoreView {
  /// Returns the names by which replies may refer to a message.
  func answeredNames(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [MessageID] {
    var own = id
    switch try ids.entry(of: id, in: conversation) {
    case .here(let position)?:
      if try !messages.hasMessage(at: position, in: conversation) {
        // Hidden, as if it were gone.
        return position.id == id ? [id] : [position.id, id]
      }
      let names = try messages.message(at: position, in: conversation).traits.names
      return [position.id] + names
    case .deleted?: return [id]
    case .alias(let other)?: own = other
    case nil: break
    }
    guard own.byteCount <= Identifier.maximumByteCount else { return [id] }
    let waiting: WaitingFacts? = try record(FactKey.prefix(conversation, own, .waiting))
    return [own] + (waiting?.traits.names ?? [])
  }
}
