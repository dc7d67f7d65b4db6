import PageFile

extension MessageCursor {
  /// Returns the head of the segment at whose first message the cursor stands, and the position of
  /// that message; nil if the cursor is elsewhere, has looked into the segment, or may have to pass
  /// over some of its messages.
  ///
  /// Nothing is unpacked.
  func segmentAhead() throws(StoreError) -> (head: SegmentHeader, first: MessagePosition)? {
    guard hideTime == nil, case .packed(fromEnd: false) = place,
      let head = SegmentHeader(cursor.cell.value)
    else { return nil }
    var key = ByteBuffer()
    cursor.appendKey(to: &key, dropping: KeyEncoding.numberByteCount)
    return key.bytes.position.map { (head, $0) }
  }
}
