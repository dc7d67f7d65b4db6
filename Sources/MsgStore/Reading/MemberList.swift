import PageFile

/// The members whom a slice names, each with an index, and their profiles.
///
/// A slice has few senders but may have thousands. A member that was pushed out of the table of
/// recent ones is only listed again.
struct MemberList: ~Copyable {
  private(set) var members: [MemberID] = []
  /// The profiles of the members, at the same indices; empty in a store without any.
  private(set) var profiles: [MemberProfile?] = []
  /// A table from the numbers of recent members to their indices.
  ///
  /// An element has the number, and above it the index plus one. An inline array was copied whole
  /// at each look.
  private var recent = ByteBuffer(capacity: recentCount * 8)
  private static let recentCount = 64

  init(reservedCount: Int) {
    members.reserveCapacity(reservedCount)
    recent.append(zeros: Self.recentCount * 8)
  }

  /// Returns the index of a member, given its number.
  @inline(__always)
  mutating func index(of number: UInt32, _ view: StoreView) throws(StoreError) -> Int32 {
    let known = recent.bytes.uint64(at: Int(number) % Self.recentCount * 8)
    if known >> 32 != 0, UInt32(truncatingIfNeeded: known) == number {
      return Int32(truncatingIfNeeded: known >> 32) - 1
    }
    return try add(number, view)
  }

  @inline(never)
  private mutating func add(_ number: UInt32, _ view: StoreView) throws(StoreError) -> Int32 {
    let member = try view.member(number)
    members.append(member)
    if !view.directory.isUnused {
      profiles.append(try view.directory.record(number)?.profile(of: member))
    }
    recent.mutableBytes.store(
      UInt64(number) | UInt64(members.count) << 32, at: Int(number) % Self.recentCount * 8)
    return Int32(members.count - 1)
  }
}
