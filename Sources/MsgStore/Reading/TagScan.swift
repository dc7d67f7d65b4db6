import PageFile

/// A walk along the messages with one tag, forwards or backwards from a position.
///
/// The tags tree gives the moments at which there are such messages; the messages of those moments
/// say which of them they are.
struct TagScan: ~Copyable {
  private let view: StoreView
  private let number: UInt32
  private let tag: TagSet
  private let tagNumber: UInt8
  private let start: MessagePosition
  /// True if a message at the start itself belongs to the walk.
  private let isInclusive: Bool
  private let isForward: Bool
  /// The cursor over messages; at one with the tag after `next` has returned true.
  var cursor: MessageCursor
  private var value = ByteBuffer(capacity: 256)
  /// The moments that were read ahead, in the order of the walk, and how many are done.
  private var moments: [ThreadMoment] = []
  private var doneCount = 0
  /// The moment whose messages are being looked at.
  private var moment: ThreadMoment?
  private var hasReadAll = false

  /// The number of moments that are read ahead.
  private static let readAheadCount = 32

  init(
    _ view: StoreView, _ number: UInt32, _ tag: UInt8, from start: MessagePosition,
    isInclusive: Bool = false, isForward: Bool
  ) {
    self.view = view
    self.number = number
    self.tag = TagSet(number: tag)
    tagNumber = tag
    self.start = start
    self.isInclusive = isInclusive
    self.isForward = isForward
    cursor = MessageCursor(view)
  }

  /// Moves to the next message with the tag.
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
          if try isTagged() { return true }
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

  private mutating func isTagged() throws(StoreError) -> Bool {
    guard let record = try cursor.record(&value) else {
      throw view.corrupt(Schema.messages, "tags of conversation \(number): malformed message")
    }
    if let isTagged = try view.tags.has(tag, record) { return isTagged }
    guard let traits = record.traits() else {
      throw view.corrupt(Schema.messages, "tags of conversation \(number): malformed traits")
    }
    var id = traits.names.first
    if id == nil { id = try cursor.position().id }
    guard let id else { return false }
    return try view.facts.attachmentTags(of: id, in: number).isSuperset(of: tag)
  }

  private mutating func nextMoment() throws(StoreError) -> ThreadMoment? {
    if doneCount == moments.count { try readAhead() }
    guard doneCount < moments.count else { return nil }
    defer { doneCount += 1 }
    return moments[doneCount]
  }

  private mutating func readAhead() throws(StoreError) {
    if hasReadAll { return }
    // The messages at the moment of the start itself lie on both sides of it.
    moments = try view.tags.moments(
      of: tagNumber, in: number, from: moments.last ?? ThreadMoment(start.place),
      isInclusive: moments.isEmpty, isForward: isForward, maximumCount: Self.readAheadCount)
    doneCount = 0
    hasReadAll = moments.count < Self.readAheadCount
  }
}
