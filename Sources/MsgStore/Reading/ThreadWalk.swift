import PageFile

/// The walk that builds one slice: it collects the messages that a cursor meets, and notes what
/// lies beyond.
///
/// The cursor is passed to each step, because it is too large to be moved.
///
///  1. Messages from the given key on are copied first, then those before it, see `SliceContent`.
///  2. A walk stops where numbers are missing between the last message with a sequence and the next
///     one. The first message is compared with the one whose position the walk begins at, if there
///     is one.
struct ThreadWalk: ~Copyable {
  private var builder: SliceBuilder
  private let start: MessagePosition
  private var sequences: ThreadSequences
  private var forwardCount = 0
  private var hasOlder: Bool?
  private var hasNewer: Bool?
  private var gaps = SliceGaps()

  init(
    _ builder: consuming SliceBuilder, at start: MessagePosition,
    _ sequences: consuming ThreadSequences
  ) {
    self.builder = builder
    self.start = start
    self.sequences = sequences
  }

  private func isInThread(_ cursor: borrowing MessageCursor) -> Bool {
    cursor.isAtMessage && cursor.isIn(sequences.conversation)
  }

  /// The sequence of the message at which the walk begins.
  ///
  /// A place between messages has none.
  private var startSequence: Int64? { start.id.byteCount == 0 ? nil : start.place.sequence }

  /// Returns the number of messages before a key, counted up to a limit or a gap.
  mutating func countBackward(
    _ cursor: inout MessageCursor, from key: Bytes, limit: Int
  ) throws(StoreError) -> Int {
    _ = try cursor.seek(key)
    var last = isInThread(cursor) ? try cursor.messagePlace()?.sequence : nil
    var count = 0
    while count < limit {
      _ = try cursor.previous()
      guard isInThread(cursor) else { break }
      if let sequence = try cursor.messagePlace()?.sequence {
        guard try sequences.missing(between: sequence, and: last, nearest: .upper) == nil else {
          break
        }
        last = sequence
      }
      count += 1
    }
    return count
  }

  /// Appends the messages from a key on, without the one at the key itself if `isSkipped`.
  ///
  /// - Returns: The number of messages appended.
  mutating func copyForward(
    _ cursor: inout MessageCursor, from key: Bytes, isSkipped: Bool, limit: Int
  ) throws(StoreError) -> Int {
    if try cursor.seek(key) && isSkipped {
      hasOlder = true
      _ = try cursor.next()
    }
    var last = isSkipped ? startSequence : nil
    while forwardCount < limit, isInThread(cursor) {
      try cursor.appendRun(to: &builder, step: 1, limit: limit, after: &last)
      if builder.count > forwardCount {
        forwardCount = builder.count
        continue
      }
      guard try builder.append(&cursor) else { break }
      let place = builder.place(forwardCount)
      if let sequence = place.sequence {
        if try endsNewer(last, place) {
          builder.removeLast()
          return forwardCount
        }
        last = sequence
      }
      forwardCount += 1
      _ = try cursor.next()
    }
    hasNewer = isInThread(cursor)
    if last != nil, isInThread(cursor), let next = try cursor.messagePlace() {
      _ = try endsNewer(last, next)
    }
    return forwardCount
  }

  /// Appends the messages before a key, newest first.
  mutating func copyBackward(
    _ cursor: inout MessageCursor, from key: Bytes, limit: Int
  ) throws(StoreError) {
    guard limit > 0 else { return }
    var behind: Place?
    if hasNewer == nil, start.place.phase != .end {
      let isAtMessage = try cursor.seek(key)
      hasNewer = isInThread(cursor)
      if isInThread(cursor), !isAtMessage { behind = try cursor.messagePlace() }
      _ = try cursor.previous()
    } else {
      _ = try cursor.seekBefore(key)
    }
    var last = forwardCount > 0 ? builder.place(0).sequence : startSequence
    let end = forwardCount + limit
    while builder.count < end, isInThread(cursor) {
      let count = builder.count
      try cursor.appendRun(to: &builder, step: -1, limit: end, after: &last)
      if builder.count > count { continue }
      guard try builder.append(&cursor) else { break }
      if let sequence = builder.place(count).sequence {
        if try endsOlder(sequence, last, before: count) {
          builder.removeLast()
          break
        }
        last = sequence
      }
      _ = try cursor.previous()
    }
    hasOlder = isInThread(cursor)
    if gaps.older == nil, last != nil, isInThread(cursor), let next = try cursor.messagePlace() {
      _ = try endsOlder(next.sequence, last, before: builder.count)
    }
    if let behind, builder.count > 0 { _ = try endsNewer(builder.place(0).sequence, behind) }
  }

  /// Returns true if the slice ends before a message because numbers are missing between it and the
  /// last one.
  @inline(__always)
  private mutating func endsNewer(_ last: Int64?, _ place: Place) throws(StoreError) -> Bool {
    guard
      let missing = try sequences.missing(between: last, and: place.sequence, nearest: .lower)
    else { return false }
    hasNewer = true
    gaps.newer = SliceGaps.Gap(missing: missing, beyond: MessagePosition(place, ""))
    return true
  }

  /// Does the same towards older messages.
  ///
  /// `count` is the number of messages in the slice.
  @inline(__always)
  private mutating func endsOlder(
    _ sequence: Int64?, _ last: Int64?, before count: Int
  ) throws(StoreError) -> Bool {
    guard let missing = try sequences.missing(between: sequence, and: last, nearest: .upper) else {
      return false
    }
    hasOlder = true
    let place =
      count > forwardCount
      ? builder.place(count - 1) : forwardCount > 0 ? builder.place(0) : start.place
    gaps.older = SliceGaps.Gap(missing: missing, beyond: MessagePosition(place, ""))
    return true
  }

  /// Returns the slice.
  ///
  /// If it is not known yet, first checks for messages before the slice.
  consuming func finish(_ cursor: inout MessageCursor, from key: Bytes) throws(StoreError)
    -> MessageSlice
  {
    if hasOlder == nil {
      _ = try cursor.seekBefore(key)
      hasOlder = isInThread(cursor)
      if forwardCount > 0, isInThread(cursor), let place = try cursor.messagePlace() {
        _ = try endsOlder(place.sequence, builder.place(0).sequence, before: forwardCount)
      }
    }
    return builder.finish(
      forwardCount: forwardCount, hasOlder: hasOlder ?? false, hasNewer: hasNewer ?? false,
      gaps: gaps)
  }
}

/// The lookup of missing numbers between two neighbours, for a walk through a thread.
struct ThreadSequences {
  private let view: StoreView
  let conversation: UInt32
  private var known: KnownSequences?

  init(_ view: StoreView, _ conversation: UInt32) {
    self.view = view
    self.conversation = conversation
  }

  /// Returns the missing numbers between two messages, or nil if no number is missing.
  ///
  /// It costs two comparisons if the numbers are consecutive or a message has no number.
  @inline(__always)
  mutating func missing(
    between lower: Int64?, and upper: Int64?, nearest side: KnownSequences.Side
  ) throws(StoreError) -> ClosedRange<Int64>? {
    guard let lower, let upper, lower < upper, lower + 1 < upper else { return nil }
    return try lookUp(lower, upper, side)
  }

  @inline(never)
  private mutating func lookUp(
    _ lower: Int64, _ upper: Int64, _ side: KnownSequences.Side
  ) throws(StoreError) -> ClosedRange<Int64>? {
    if known == nil { known = try load() }
    guard let known else { return nil }
    return try known.missing(between: lower, and: upper, nearest: side)
  }

  private func load() throws(StoreError) -> KnownSequences {
    try view.conversations.knownSequences(of: conversation)
  }
}
