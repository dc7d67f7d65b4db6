import PageFile

/// One slice in the making: what a cursor has met, and what lies beyond.
///
/// The cursor is passed in at each step, as it is too large to be moved about.
///
///  1. Messages from the given key onwards are copied first, then those before it; see
///     `SliceContent`.
///  2. A walk stops where numbers are missing between the last message with a sequence and the next
///     one. The first is compared with the message whose position the walk begins at, if it is one.
struct ThreadWalk: ~Copyable {
  private var builder: SliceBuilder
  private let start: Position
  private var sequences: ThreadSequences
  private var forwardCount = 0
  private var hasOlder: Bool?
  private var hasNewer: Bool?
  private var gaps = SliceGaps()

  init(
    _ builder: consuming SliceBuilder, at start: Position, _ sequences: consuming ThreadSequences
  ) {
    self.builder = builder
    self.start = start
    self.sequences = sequences
  }

  private func isInThread(_ cursor: borrowing MessageCursor) -> Bool {
    cursor.isAtMessage && cursor.isIn(sequences.conversation)
  }

  /// The sequence of the message at which the walk begins; a place between messages has none.
  private var startSequence: Int64? { start.id.byteCount == 0 ? nil : start.place.sequence }

  /// How many messages lie before a key, counted up to a limit or a gap.
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

  /// Adds the messages from a key on; with `isSkipped` not the one at the key itself.
  ///
  /// Returns how many there were.
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

  /// Adds the messages before a key, newest first.
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

  /// Whether the slice ends before a message because of what is missing between it and the last one.
  @inline(__always)
  private mutating func endsNewer(_ last: Int64?, _ place: Place) throws(StoreError) -> Bool {
    guard
      let missing = try sequences.missing(between: last, and: place.sequence, nearest: .lower)
    else { return false }
    hasNewer = true
    gaps.newer = SliceGaps.Gap(missing: missing, beyond: Position(place, ""))
    return true
  }

  /// The same towards older messages; `count` is how many messages the slice has.
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
    gaps.older = SliceGaps.Gap(missing: missing, beyond: Position(place, ""))
    return true
  }

  /// The slice, after a look at what lies before it if nothing has told yet.
  consuming func finish(_ cursor: inout MessageCursor, from key: Bytes) throws(StoreError) -> Slice
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

/// What a walk through a thread asks about the numbers between two neighbours.
struct ThreadSequences {
  private let view: StoreView
  let conversation: UInt32
  private var known: KnownSequences?

  init(_ view: StoreView, _ conversation: UInt32) {
    self.view = view
    self.conversation = conversation
  }

  /// What is missing between two messages.
  ///
  /// It costs two comparisons where the numbers follow each other, or there are none.
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
