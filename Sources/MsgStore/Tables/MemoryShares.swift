/// The memory kept beside the pages for recent lookups: fixed shares of the cache's budget,
/// together three sixteenths of it.
///
/// All of it can be looked up again, so entries that do not fit are dropped.
package struct MemoryShares: Sendable {
  /// Names of members, for readers.
  ///
  /// See `MemberNames`.
  package var memberNames: Int
  /// Numbers of conversations and members by name, for the writer.
  ///
  /// See `NameNumbers`.
  package internal(set) var nameNumbers: Int
  /// Recipients in large groups, for the writer.
  ///
  /// See `WriterMemory`.
  package internal(set) var recipients: Int

  /// The minimum of each share, however small the budget is.
  private static let byteCountMin = 64 << 10

  package init(cacheByteCount: Int = StoreOptions.defaultCacheByteCount) {
    let share = max(cacheByteCount / 16, Self.byteCountMin)
    memberNames = share
    nameNumbers = share
    recipients = share
  }

  /// Returns the approximate number of bytes that a string takes beside its own sixteen.
  static func heapByteCount(of string: String) -> Int {
    let byteCount = string.utf8.count
    return byteCount > 15 ? byteCount + 48 : 0
  }
}
