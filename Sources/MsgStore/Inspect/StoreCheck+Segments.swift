import PageFile

/// The messages as if each had a cell of its own, and the cells that hold many.
extension StoreCheck {
  /// Runs `body` on the key and the record of every message; a segment that is none is told, and
  /// passed over.
  func walkMessages(
    _ reader: StoreReader,
    _ body: (_ key: Bytes, _ record: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) {
    var run = MessageRun()
    var last = ByteBuffer()
    try walk(Schema.messages, reader) { (key, value) throws(StoreError) in
      if last.count > 0, key.compare(to: last.bytes) <= 0 {
        report(
          "messages: a cell of conversation \(key.bigEndianNumber(at: 0) ?? 0) lies in a segment")
      }
      last.removeAll()
      guard Segment.isSegment(value) else { return try body(key, value) }
      run.removeAll()
      guard let number = key.bigEndianNumber(at: 0) else {
        return report("messages: a segment has no conversation")
      }
      do throws(StoreError) {
        try reader.unpack(value, at: key, to: &run)
      } catch .corruptRecord(_, let reason) {
        return report("messages: of conversation \(number) \(reason)")
      }
      for index in 0..<run.count { try body(run.key(index), run.record(index)) }
      last.append(run.key(run.count - 1))
    }
  }
}
