import MsgStore
import PageFile

/// A walk over all messages, in segments and in cells of their own.
extension StoreCheck {
  /// Runs `body` on the key and the record of every message.
  ///
  /// Malformed segments, and those whose dictionary is lost, are skipped.
  ///
  /// - Parameter reports: True to report such segments; one walk of a check does.
  func walkMessages(
    _ view: StoreView, reports: Bool,
    _ body: (_ key: Bytes, _ record: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) {
    var run = MessageRun()
    var last = ByteBuffer()
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
        try view.messages.unpack(value, at: key, to: &run)
      } catch {
        guard error.isDamage else { throw error }
        if reports { report("messages: segment of conversation \(number): \(error)") }
        return
      }
      for index in 0..<run.count { try body(run.key(index), run.record(index)) }
      // A segment that lies within another may end before it.
      if last.count == 0 || last.bytes.compare(to: run.key(run.count - 1)) < 0 {
        last.removeAll()
        last.append(run.key(run.count - 1))
      }
    }
  }
}
