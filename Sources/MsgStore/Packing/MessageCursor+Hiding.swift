import PageFile

/// The passing over of messages that have expired.
///
/// Only a view of a store in which some message has expired does so; then every message is looked
/// at as soon as the cursor arrives there, which unpacks its segment.
extension MessageCursor {
  /// Moves on from a message that is hidden, past all hidden ones.
  ///
  /// Returns true if it was at one.
  @inline(never)
  mutating func passHidden(_ time: Int64, isForward: Bool) throws(StoreError) -> Bool {
    var hasPassed = false
    while isAtMessage, try isHidden(time) {
      hasPassed = true
      _ = isForward ? try nextOfAll() : try previousOfAll()
    }
    return hasPassed
  }

  /// Returns true if the message at the cursor expires at a time or earlier.
  ///
  /// A malformed message is shown, to be refused by the reader.
  private mutating func isHidden(_ time: Int64) throws(StoreError) -> Bool {
    if StoreDefect.expiredShown.isPlanted { return false }
    try loadRecords()
    if case .unpacked(let index) = place {
      guard segment.rows[index].flags.contains(.traits) else { return false }
      return MessageTraits.expiryTime(in: segment.traits(index)).map { $0 <= time } ?? false
    }
    guard let expiryTime = try recordAtCell()?.expiryTime else { return false }
    return expiryTime <= time
  }

  /// True if the message is the last one of its segment.
  mutating func isAtEndOfSegment() throws(StoreError) -> Bool {
    try loadRecords()
    guard case .unpacked(let index) = place else { return true }
    return index + 1 == segment.rows.count
  }
}
