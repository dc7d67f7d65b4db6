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
///  3. Where a part of the thread was pruned, what was copied is cut afterwards, see `PrunedPart`.
struct ThreadWalk: ~Copyable {
  private var builder: SliceBuilder
  private let start: MessagePosition
  private var sequences: ThreadSequences
  /// nil if nothing of the thread was pruned.
  private let pruned: PrunedPart?
  private var forwardCount = 0
  private var hasOlder: Bool?
  private var hasNewer: Bool?
  private var gaps = SliceGaps()

  init(
    _ builder: consuming SliceBuilder, at start: MessagePosition,
    _ sequences: consuming ThreadSequences, _ pruned: PrunedPart?
  ) {
    self.builder = builder
    self.start = start
    self.sequences = sequences
    self.pruned = pruned
  }

  private func isInThread(_ cursor: borrowing MessageCursor) -> Bool {
    cursor.isAtMessage && cursor.isIn(sequences.conversation)
  }

  /// The sequence of the message at which the walk begins.
  ///
  /// A place between messages has none.
  private var startSequence: Int64? { isAtMessage ? start.place.sequence : nil }

  /// True if the walk begins at the position of a message.
  private var isAtMessage: Bool { start.id.byteCount > 0 }

  /// Returns the number of messages before a key, counted up to a limit or a gap.
  mutating func countBackward(
    _ cursor: inout MessageCursor, from key: Bytes, limit: Int
  ) throws(StoreError) -> Int {
    _ = try cursor.seek(key)
    var last = isInThread(cursor) ? try cursor.messagePlace()?.sequence : nil
    var newer = pruned == nil || !isInThread(cursor) ? nil : try cursor.position()
    var count = 0
    while count < limit {
      _ = try cursor.previous()
      guard isInThread(cursor) else { break }
      if let pruned {
        let older = try cursor.position()
        if pruned.isBetween(older, newer?.place) { break }
        newer = older
      }
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
          cutForward()
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
    if let pruned, !cutForward(), gaps.newer == nil, isInThread(cursor),
      let next = try cursor.messagePlace(),
      let older = isSkipped || forwardCount > 0 ? newest : nil,
      pruned.isBetween(older, next)
    {
      endNewerPruned(before: next)
    }
    return forwardCount
  }

  /// The newest message of the slice, or else the one at which the walk begins.
  private var newest: MessagePosition? {
    forwardCount > 0 ? builder.position(forwardCount - 1) : isAtMessage ? start : nil
  }

  /// Cuts the messages that were copied forwards where others were pruned between two of them.
  ///
  /// Returns true if there is such a place.
  @discardableResult
  private mutating func cutForward() -> Bool {
    guard let pruned else { return false }
    var older = isAtMessage && hasOlder == true ? start : nil
    for index in 0..<forwardCount {
      let position = builder.position(index)
      if let older, pruned.isBetween(older, position.place) {
        while builder.count > index { builder.removeLast() }
        forwardCount = index
        endNewerPruned(before: position.place)
        return true
      }
      older = position
    }
    return false
  }

  private mutating func endNewerPruned(before place: Place) {
    hasNewer = true
    gaps.newer = SliceGaps.Gap(edge: .pruned(beyond: MessagePosition(place, "")))
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
    if pruned != nil, !cutBackward(), gaps.older == nil { try endOlder(&cursor) }
    guard let behind, builder.count > 0 else { return }
    if try endsNewer(builder.place(0).sequence, behind) { return }
    if let pruned, pruned.isBetween(builder.position(0), behind) { endNewerPruned(before: behind) }
  }

  /// Cuts the messages that were copied backwards where others were pruned between two of them.
  ///
  /// Returns true if there is such a place.
  private mutating func cutBackward() -> Bool {
    guard let pruned else { return false }
    for index in forwardCount..<max(forwardCount, builder.count)
    where pruned.isBetween(builder.position(index), place(behind: index)) {
      while builder.count > index { builder.removeLast() }
      endOlderPruned()
      return true
    }
    return false
  }

  /// The place of the message behind a row copied backwards, or nil if the walk began at none.
  private func place(behind index: Int) -> Place? {
    if index > forwardCount { return builder.place(index - 1) }
    return forwardCount > 0 ? builder.place(0) : isAtMessage ? start.place : nil
  }

  /// Ends the slice with pruned messages if there were any between it and the message at the
  /// cursor, or the beginning of the thread.
  private mutating func endOlder(_ cursor: inout MessageCursor) throws(StoreError) {
    guard isInThread(cursor) else {
      gaps.older = SliceGaps.Gap(edge: .pruned(beyond: nil))
      return
    }
    let newer = place(behind: builder.count)
    if let pruned, pruned.isBetween(try cursor.position(), newer) { endOlderPruned() }
  }

  private mutating func endOlderPruned() {
    hasOlder = true
    let place = place(behind: builder.count) ?? start.place
    gaps.older = SliceGaps.Gap(edge: .pruned(beyond: MessagePosition(place, "")))
  }

  /// Returns true if the slice ends before a message because numbers are missing between it and the
  /// last one.
  @inline(__always)
  private mutating func endsNewer(_ last: Int64?, _ place: Place) throws(StoreError) -> Bool {
    guard
      let missing = try sequences.missing(between: last, and: place.sequence, nearest: .lower)
    else { return false }
    hasNewer = true
    gaps.newer = SliceGaps.Gap(edge: .gap(missing, beyond: MessagePosition(place, "")))
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
    gaps.older = SliceGaps.Gap(edge: .gap(missing, beyond: MessagePosition(place, "")))
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
      if pruned != nil, gaps.older == nil { try endOlder(&cursor) }
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

/// The part of a thread of which messages were pruned.
struct PrunedPart {
  /// The position of the newest pruned message.
  let floor: MessagePosition

  /// Returns true if messages may have been pruned between two neighbours.
  ///
  /// Consecutive sequences leave no room for any. Messages at one place are not separated: no
  /// position between them could be given to read on from.
  @inline(never)
  func isBetween(_ older: MessagePosition, _ newer: Place?) -> Bool {
    guard older < floor, let newer, older.place != newer else { return false }
    if let lower = older.place.sequence, let upper = newer.sequence, lower < upper {
      return lower + 1 < upper
    }
    return true
  }
}
