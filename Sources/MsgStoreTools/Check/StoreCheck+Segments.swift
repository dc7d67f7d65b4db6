import MsgStore
import PageFile

/// A walk over all messages, in segments and in cells of their own.
extension StoreCheck {
  /// Runs `body` on the key and the record of every message.
  ///
  /// Malformed segments, and those whose dictionary is lost, are skipped.
  ///
  /// - Parameter reports: True to report such segments, and records beside no segment; one walk of
  ///   a check does.
  func walkMessages(
    _ view: StoreView, reports: Bool,
    _ body: (_ key: Bytes, _ record: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) {
    var run = MessageRun()
    var last = ByteBuffer()
    var besideCount: Int? = 0
    try walk(Schema.messages, view) { (key, value) throws(StoreError) in
      if reports, last.count > 0, key.compare(to: last.bytes) <= 0 {
        report(
          "messages: cell of conversation \(key.bigEndianNumber(at: 0) ?? 0) lies in a segment")
      }
      guard Segment.isSegment(value) else { return try body(key, value) }
      run.removeAll()
      guard let number = key.bigEndianNumber(at: 0) else {
        if reports { report("messages: segment without a conversation") }
        return
      }
      do throws(StoreError) {
        let besideKeys = try view.messages.unpack(value, at: key, to: &run)
        besideCount? += besideKeys.count
        if reports, besideKeys.isEmpty, SegmentHeader(value)?.hasBeside == true {
          report("messages: segment of conversation \(number): no message lies beside it")
        }
      } catch {
        guard error.isDamage else { throw error }
        besideCount = nil
        if reports { report("messages: segment of conversation \(number): \(error)") }
        return
      }
      if reports { checkUnread(value, run, view, in: number) }
      for index in 0..<run.count { try body(run.key(index), run.record(index)) }
      // A segment that lies within another may end before it.
      if last.count == 0 || last.bytes.compare(to: run.key(run.count - 1)) < 0 {
        last.removeAll()
        last.append(run.key(run.count - 1))
      }
    }
    if reports, let besideCount { try checkBeside(view, besideCount) }
  }

  /// Compares the counts in the head of a segment with its messages.
  private func checkUnread(
    _ value: Bytes, _ run: borrowing MessageRun, _ view: StoreView, in number: UInt32
  ) {
    guard let head = SegmentHeader(value), let stored = head.unread, !head.hasBeside else { return }
    var found = UnreadCount()
    for index in 0..<run.count {
      guard let record = MessageRecord(run.record(index)) else { continue }
      found = found + record.unreadCount(for: view.localMemberNumber)
    }
    if stored != found {
      report(
        "messages: segment of conversation \(number): wrong numbers of unread messages "
          + "(stored \(stored.messages) and \(stored.mentions), "
          + "found \(found.messages) and \(found.mentions))")
    }
  }

  /// Reports records of messages that are in no segment, or in one that does not say so.
  ///
  /// - Parameter count: The number of messages that segments have beside them.
  private func checkBeside(_ view: StoreView, _ count: Int) throws(StoreError) {
    var recordCount = 0
    try walk(Schema.beside, view) { (_, _) throws(StoreError) in recordCount += 1 }
    if recordCount != count {
      report("beside: \(recordCount) records (\(count) messages lie beside their segments)")
    }
  }
}
