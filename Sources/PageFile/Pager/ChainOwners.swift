/// A record of the value that each overflow page was read for.
///
/// A page belongs to one value. In a forged store many cells may name the same chain, or chains
/// that run into one another. A leaf of 4 KiB has room for 270 cells with 32 MiB each, so a reader
/// of all values that continues after errors would copy gigabytes for a file of a few pages. With
/// this record no page is read for a second value, and the bytes read never exceed the size of the
/// file.
///
/// Memory: 16 to 32 bytes per overflow page read. So it is meant for full reads: an export, and
/// salvage.
package struct ChainOwners {
  private var owners: [UInt32: UInt64] = [:]

  package init() {}

  /// Records that a page is read for a value; returns false if it belongs to another value.
  ///
  /// A page may be read again for its own value. Pages read before an error stay recorded.
  package mutating func claim(_ number: PageNumber, for owner: UInt64) -> Bool {
    if let known = owners[number.rawValue] { return known == owner }
    owners[number.rawValue] = owner
    return true
  }
}
