import PageFile

/// An index that names the moments of messages, and the test of the messages there.
///
/// Messages of other kinds may lie at the same moment.
protocol MomentIndex {
  /// Returns moments from one on, in order, forwards or backwards: as many as asked for, or all
  /// that are left.
  ///
  /// - Parameter isInclusive: True to begin with the moment itself, if it has an entry.
  func moments(
    in conversation: UInt32, from moment: ThreadMoment, isInclusive: Bool, isForward: Bool,
    maximumCount: Int
  ) throws(StoreError) -> [ThreadMoment]

  /// Returns true if the index means the message at the cursor.
  ///
  /// - Parameter value: Memory for its record, which is overwritten.
  func lists(
    _ cursor: inout MessageCursor, _ value: inout ByteBuffer
  ) throws(StoreError) -> Bool
}

/// A walk along the messages of a conversation that an index lists, forwards or backwards from a
/// position.
struct MomentScan<Index: MomentIndex>: ~Copyable {
  private let index: Index
  private let number: UInt32
  private let start: MessagePosition
  /// True if a listed message at the start itself belongs to the walk.
  private let isInclusive: Bool
  private let isForward: Bool
  /// The cursor over messages; at a listed one after `next` has returned true.
  var cursor: MessageCursor
  private var value = ByteBuffer(capacity: 256)
  /// The moments that were read ahead, in the order of the walk, and how many are done.
  private var moments: [ThreadMoment] = []
  private var doneCount = 0
  /// The moment whose messages are being looked at.
  private var moment: ThreadMoment?
  private var hasReadAll = false

  /// The number of moments that are read ahead.
  private static var readAheadCount: Int { 32 }

  @inline(never)
  init(
    _ view: StoreView, _ number: UInt32, _ index: Index, from start: MessagePosition,
    isInclusive: Bool = false, isForward: Bool
  ) {
    self.index = index
    self.number = number
    self.start = start
    self.isInclusive = isInclusive
    self.isForward = isForward
    cursor = MessageCursor(view)
  }

  /// Moves to the next listed message.
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
          if try index.lists(&cursor, &value) { return true }
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

  private mutating func nextMoment() throws(StoreError) -> ThreadMoment? {
    if doneCount == moments.count { try readAhead() }
    guard doneCount < moments.count else { return nil }
    defer { doneCount += 1 }
    return moments[doneCount]
  }

  private mutating func readAhead() throws(StoreError) {
    if hasReadAll { return }
    // The messages at the moment of the start itself lie on both sides of it.
    moments = try index.moments(
      in: number, from: moments.last ?? ThreadMoment(start.place), isInclusive: moments.isEmpty,
      isForward: isForward, maximumCount: Self.readAheadCount)
    doneCount = 0
    hasReadAll = moments.count < Self.readAheadCount
  }
}

extension StoreView {
  /// Returns the moments behind a prefix of the keys of a tree, from one on, in order, forwards or
  /// backwards.
  ///
  /// A cell whose key is the prefix itself lies before all moments and ends the walk.
  func moments(
    behind prefix: borrowing ByteBuffer, in tree: TreeNumber, from moment: ThreadMoment,
    isInclusive: Bool, isForward: Bool, maximumCount: Int
  ) throws(StoreError) -> [ThreadMoment] {
    var found: [ThreadMoment] = []
    var cursor = Cursor(source, tree)
    var start = ByteBuffer(capacity: 32)
    start.append(prefix.bytes)
    start = start.appending(moment)
    let isEqual = try storage { () throws(PageFileError) in
      isForward ? try cursor.seek(start.bytes) : try cursor.seekBack(start.bytes)
    }
    var isPassed = isEqual && !isInclusive
    var key = ByteBuffer(capacity: 32)
    while found.count < maximumCount, cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      if !isPassed {
        key.removeAll()
        cursor.appendKey(to: &key)
        if key.count == prefix.count { return found }
        guard key.count == prefix.count + ThreadMoment.byteCount,
          let moment = ThreadMoment(key.bytes, at: prefix.count)
        else { throw corrupt(tree, "malformed key (\(key.count) bytes)") }
        found.append(moment)
      }
      isPassed = false
      try storage { () throws(PageFileError) in
        _ = isForward ? try cursor.next() : try cursor.previous()
      }
    }
    return found
  }
}
