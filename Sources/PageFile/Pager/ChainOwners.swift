/// Which value each overflow page was read for.
///
/// A page belongs to one value. In a forged store many cells may name the same chain, or chains that run
/// into one another: a leaf of 4 KiB has room for 270 cells with 32 MiB each, so whoever reads all values
/// and goes on after errors would copy gigabytes for a file of a few pages. With this no page is read for
/// a second value, and what is read is no more than the file has.
///
/// Memory: 16 to 32 bytes for each overflow page that was read. So it is for those who read everything:
/// an export, and salvage.
struct ChainOwners {
  private var owners: [UInt32: UInt64] = [:]

  /// Notes that a page is read for a value; false when another value has it.
  ///
  /// A page may be read again for its own value. What was read before an error stays noted.
  mutating func claim(_ number: PageNumber, for owner: UInt64) -> Bool {
    if let known = owners[number.rawValue] { return known == owner }
    owners[number.rawValue] = owner
    return true
  }
}
