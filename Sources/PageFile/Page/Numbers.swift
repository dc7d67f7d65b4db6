/// The name of a page.
///
/// Page numbers begin at 1. They are independent of the page's place in the file.
public struct PageNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number as it is stored.
  public let rawValue: UInt32
  /// Wraps a stored number.
  @inlinable
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// The number that stands for no page: the root of an empty tree, the end of an overflow chain.
  public static var none: PageNumber { PageNumber(0) }

  /// Orders by number.
  public static func < (a: PageNumber, b: PageNumber) -> Bool { a.rawValue < b.rawValue }
  /// The number in decimal digits.
  public var description: String { "\(rawValue)" }
}

/// A place for one page in the data file.
///
/// Slots begin at 1; see D-3 of docs/page-file-format.md.
package struct SlotNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let rawValue: UInt32
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static var none: SlotNumber { SlotNumber(0) }
  package static func < (a: SlotNumber, b: SlotNumber) -> Bool { a.rawValue < b.rawValue }
  package var description: String { "\(rawValue)" }
}

/// The number of a commit: 1, 2, 3 ….
///
/// It never restarts. Only the numbers of commits that a power cut took back are reused.
public struct LSN: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number as it is stored.
  public let rawValue: UInt64
  /// Wraps a stored number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  /// The LSN before the first commit.
  public static var zero: LSN { LSN(0) }
  /// The number of the commit after this one.
  package var next: LSN { LSN(rawValue + 1) }
  /// Orders by number.
  public static func < (a: LSN, b: LSN) -> Bool { a.rawValue < b.rawValue }
  /// The number in decimal digits.
  public var description: String { "\(rawValue)" }
}

/// The upper bound of all counters: LSNs, generations, and the write numbers of meta slots.
///
/// No store reaches it by counting, but a damaged or hostile file may claim such a value. The
/// margin above it keeps arithmetic from overflowing.
package enum Counter {
  package static let limit: UInt64 = 1 << 62

  /// Throws if a number is so large that no reader would accept it.
  static func check(_ value: UInt64, _ what: String) throws(PageFileError) {
    guard value < limit else {
      throw .limitExceeded(what: what, value: Int(clamping: value), limit: Int(limit) - 1)
    }
  }
}

/// A tree's place in the table of roots: 0 up to `Roots.maximumCount`.
package struct TreeNumber: Sendable, Hashable {
  @usableFromInline package let rawValue: Int
  @inlinable
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}
