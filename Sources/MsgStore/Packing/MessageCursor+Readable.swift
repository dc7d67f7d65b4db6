import PageFile

/// A walk backwards that goes on where a message cannot be read.
///
/// The cursor stands at a malformed segment as at one malformed message with the key of its cell.
extension MessageCursor {
  /// Moves to the last message whose key is below `key`, as `seekBefore` does.
  mutating func seekReadable(before key: Bytes) throws(StoreError) -> Bool {
    do throws(StoreError) {
      _ = try seekBefore(key)
    } catch .corruptRecord {
      // At the segment in which the key would lie.
      place = .alone
    }
    return try standReadable()
  }

  /// Moves to the previous message, as `previous` does, from one that one of these functions found.
  mutating func previousReadable() throws(StoreError) -> Bool {
    _ = try previous()
    return try standReadable()
  }

  private mutating func standReadable() throws(StoreError) -> Bool {
    guard isAtMessage else { return false }
    do throws(StoreError) {
      try loadRecords()
    } catch .corruptRecord {
      place = .alone
    }
    return true
  }
}
