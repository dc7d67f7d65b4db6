import PageFile

/// A walk along a conversation that counts unread messages, a segment at a time where its head has
/// the counts.
///
/// So a walk costs a step for each segment, but for those at or below a read mark, in which single
/// messages may be unread (U-5), and those with messages beside them.
package struct UnreadScan: ~Copyable {
  private let view: StoreView
  private let summary: ConversationSummary
  private let end: MessagePosition?
  private var scan: ThreadScan
  /// The number of segments and single messages so far.
  package private(set) var stepCount = 0

  /// Begins after a position.
  package init(
    _ view: StoreView, _ conversation: UInt32, _ summary: ConversationSummary,
    after position: MessagePosition
  ) throws(StoreError) {
    (self.view, self.summary, end) = (view, summary, nil)
    scan = try ThreadScan(view, conversation, after: position)
  }

  /// Begins at a position, and ends with another one.
  package init(
    _ view: StoreView, _ conversation: UInt32, _ summary: ConversationSummary,
    from position: MessagePosition, through end: MessagePosition
  ) throws(StoreError) {
    (self.view, self.summary, self.end) = (view, summary, end)
    scan = try ThreadScan(view, conversation, from: position)
  }

  /// Returns the counts of the next segment or message; nil at the end.
  @inline(never)
  package mutating func next() throws(StoreError) -> UnreadCount? {
    stepCount += 1
    if let (head, first) = try scan.segmentAhead(), let counts = counts(head, first) {
      try scan.passSegment()
      return counts
    }
    guard let record = try scan.next() else { return nil }
    let position = try scan.position()
    if let end, position > end { return nil }
    return view.receipts.unreadCount(record, at: position, summary)
  }

  /// Returns the counts of a segment, if its head has them, and all its messages lie above the read
  /// marks and before the end.
  private func counts(_ head: SegmentHeader, _ first: MessagePosition) -> UnreadCount? {
    guard let unread = head.unread, !head.hasBeside else { return nil }
    if let seen = summary.seenUpTo, first <= seen { return nil }
    if let end {
      let (last, isOver) = first.place.time.addingReportingOverflow(
        Int64(clamping: head.lastTimeOffset))
      if isOver || last >= end.place.time { return nil }
    }
    return unread
  }
}
