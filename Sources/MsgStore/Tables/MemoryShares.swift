/// How much memory is kept beside the pages for what was looked up lately: fixed shares of the cache's
/// budget, together three sixteenths of it.
///
/// All of it can be looked up again, so what has no room is forgotten.
package struct MemoryShares: Sendable {
  /// Names of members, for readers: see `MemberNames`.
  package var memberNames: Int
  /// Numbers of conversations and members by name, for the writer: see `NameNumbers`.
  package var nameNumbers: Int
  /// Who takes part in large groups, for the writer: see `WriterMemory`.
  package var recipients: Int

  /// What each has, however small the budget is.
  private static let byteCountMin = 64 << 10

  package init(cacheByteCount: Int = StoreOptions.usualCacheByteCount) {
    let share = max(cacheByteCount / 16, Self.byteCountMin)
    memberNames = share
    nameNumbers = share
    recipients = share
  }

  /// About how many bytes a string takes beside its own sixteen.
  static func heapByteCount(of string: String) -> Int {
    let byteCount = string.utf8.count
    return byteCount > 15 ? byteCount + 48 : 0
  }
}
