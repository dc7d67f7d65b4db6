import PageFile

/// Looks up the places that marks up to sequences reach.
///
/// See docs/message-format.md, V-12.
extension ReceiptReader {
  /// Returns the place of the last acknowledged message without a greater sequence; nil without
  /// one.
  ///
  /// Walks back from the end of the thread.
  func lastPosition(
    upTo sequence: Int64, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(view, conversation, after: .firstPending)
    while try scan.previous() != nil {
      let position = try scan.position()
      if let own = position.place.sequence, own <= sequence { return position }
    }
    return nil
  }
}
