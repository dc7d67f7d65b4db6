import PageFile

/// A walk along the messages that answer one, forwards or backwards from a position.
///
/// The replies tree gives the moments at which there are replies to a name; the messages of those
/// moments say which of them they are. Entries of other names with the same digest lead to messages
/// that are passed over.
struct ReplyScan: ~Copyable {
  private let view: StoreView
  private let number: UInt32
  /// The names by which replies may refer to the answered message.
  private let names: [MessageID]
  private let start: MessagePosition
  /// True if a reply at the start itself belongs to the walk.
  private let isInclusive: Bool
  private let isForward: Bool
  /// The cursor over messages; at a reply after `next` has returned true.
  var cursor: MessageCursor
  private var value = ByteBuffer(capacity: 256)
  /// The moments that were read ahead, in the order of the walk, and how many are done.
  private var moments: [ThreadMoment] = []
  private var doneCount = 0
  /// The moment whose messages are being looked at.
  private var moment: ThreadMoment?
  /// The last moment read ahead; nil before the first.
  private var lastMoment: ThreadMoment?
  private var hasReadAll = false

  /// The number of moments that are read ahead.
  private static let readAheadCount = 32

  init(
    _ view: StoreView, _ number: UInt32, _ names: [MessageID], from start: MessagePosition,
    isInclusive: Bool = false, isForward: Bool
  ) {
    self.view = view
    self.number = number
    self.names = names
    self.start = start
    self.isInclusive = isInclusive
    self.isForward = isForward
    cursor = MessageCursor(view)
  }

  /// Moves to the next reply.
  ///
  /// Returns false after the last one.
  mutating func next() throws(StoreError) -> Bool {
    var isAtNext = false
    while true {
      if let moment {
        if !isAtNext { _ = try step() }
        while cursor.isAtMessage, cursor.isIn(number), let place = try cursor.messagePlace(),
          ThreadMoment(place) == moment
        {
          if try isReply() { return true }
          _ = try step()
        }
      }
      guard let next = try nextMoment() else {
        moment = nil
        return false
      }
      moment = next
      isAtNext = try seek(next)
    }
  }

  private mutating func step() throws(StoreError) -> Bool {
    isForward ? try cursor.next() : try cursor.previous()
  }

  /// Moves to the first message of a moment in the direction of the walk.
  ///
  /// Returns false if the cursor is at the start, which does not belong to the walk.
  private mutating func seek(_ moment: ThreadMoment) throws(StoreError) -> Bool {
    if moment == ThreadMoment(start.place) {
      var key = KeyEncoding.key(number, start)
      if isForward {
        let isEqual = try cursor.seek(key.bytes)
        return isInclusive || !isEqual
      }
      // No key lies between that of a message and the same bytes with a zero behind them.
      if isInclusive { key.append(UInt8(0)) }
      _ = try cursor.seekBefore(key.bytes)
    } else {
      var key = KeyEncoding.key(number).appending(moment)
      if isForward {
        _ = try cursor.seek(key.bytes)
      } else {
        // Above the rest of any place, and of any name, which is UTF-8.
        for _ in 0..<9 { key.append(UInt8(0xFF)) }
        _ = try cursor.seekBefore(key.bytes)
      }
    }
    return true
  }

  private mutating func isReply() throws(StoreError) -> Bool {
    guard let record = try cursor.record(&value) else {
      throw view.corrupt(Schema.messages, "replies of conversation \(number): malformed message")
    }
    guard let answered = try view.replies.shownReply(of: record) else { return false }
    return names.contains(answered)
  }

  private mutating func nextMoment() throws(StoreError) -> ThreadMoment? {
    if doneCount == moments.count { try readAhead() }
    guard doneCount < moments.count else { return nil }
    defer { doneCount += 1 }
    return moments[doneCount]
  }

  /// Reads the next moments of all names.
  private mutating func readAhead() throws(StoreError) {
    moments.removeAll(keepingCapacity: true)
    doneCount = 0
    if hasReadAll { return }
    var found: Set<ThreadMoment> = []
    for digest in Set(names.map(ReplyKey.digest)) {
      // The messages at the moment of the start itself lie on both sides of it.
      found.formUnion(
        try view.replies.moments(
          of: digest, in: number, from: lastMoment ?? ThreadMoment(start.place),
          isInclusive: lastMoment == nil, isForward: isForward,
          maximumCount: Self.readAheadCount))
    }
    moments = isForward ? found.sorted() : found.sorted(by: >)
    // Of several names each has told its first moments only, so none of the later ones is certain.
    if moments.count > Self.readAheadCount {
      moments.removeLast(moments.count - Self.readAheadCount)
    } else {
      hasReadAll = moments.count < Self.readAheadCount
    }
    lastMoment = moments.last
  }
}

extension ReplyScan {
  /// Returns the names by which replies may refer to a message.
  static func names(
    of id: MessageID, in conversation: UInt32, _ view: StoreView
  ) throws(StoreError) -> [MessageID] {
    var own = id
    switch try view.ids.entry(of: id, in: conversation) {
    case .here(let position)?:
      if try !view.messages.hasMessage(at: position, in: conversation) {
        // Hidden, as if it were gone.
        return position.id == id ? [id] : [position.id, id]
      }
      let names = try view.messages.message(at: position, in: conversation).traits.names
      return [position.id] + names
    case .deleted?: return [id]
    case .alias(let other)?: own = other
    case nil: break
    }
    guard own.byteCount <= Identifier.maximumByteCount else { return [id] }
    let waiting: WaitingFacts? = try view.record(FactKey.prefix(conversation, own, .waiting))
    return [own] + (waiting?.traits.names ?? [])
  }
}
