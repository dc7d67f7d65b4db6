/// A set of commits, as bits.
///
/// Commits of a run are numbered from 1, each number once, whatever crashes undo. So a set of them is
/// at once a history, a chain value, and the content of a page: two histories that differ in one
/// commit differ in all of these. The LSN is the number of commits in it.
typealias Commits = UInt8

/// The LSN of the last commit of a history.
func lsn(_ commits: Commits) -> UInt8 { UInt8(commits.nonzeroBitCount) }

/// The first `count` commits of a history.
func prefix(_ commits: Commits, _ count: UInt8) -> Commits {
  var rest = commits
  for _ in 0..<count { rest &= rest &- 1 }
  return commits & ~rest
}

/// Which commits change each of the two pages: the first page changes with every commit, the other
/// one with each second.
let touching: (Commits, Commits) = (0b1111, 0b1010)
let pageCount = 2
func touching(_ page: Int) -> Commits { page == 0 ? touching.0 : touching.1 }

/// What a page slot holds: a page number and the commits applied to it; 0 is anything else.
enum PageContent {
  static func of(_ page: Int, _ commits: Commits) -> UInt8 { 0x80 | UInt8(page) << 4 | commits }
}

/// What a WAL file's header holds: the life of the file it begins, and 0 where it cannot be read.
enum Header {
  static let empty: UInt8 = 0x40
  static func isInUse(_ header: UInt8) -> Bool { header != 0 && header != empty }
}

/// What stands at one place of a WAL file: a commit, whole or with its tail missing, a watermark, or
/// nothing (0).
struct Entry {
  let bits: UInt8

  init(bits: UInt8) { self.bits = bits }
  static func commit(_ number: UInt8) -> Entry { Entry(bits: number) }
  static func watermark(life: UInt8, lsn: UInt8) -> Entry { Entry(bits: 0x80 | life << 3 | lsn) }

  var isWatermark: Bool { bits & 0x80 != 0 }
  var isCommit: Bool { !isWatermark && bits != 0 }
  var isTorn: Bool { isCommit && bits & 0x08 != 0 }
  /// The commit's number.
  var number: Int { Int(bits & 0x07) }
  var torn: Entry { isCommit ? Entry(bits: bits | 0x08) : self }
  var watermarkLife: UInt8 { bits >> 3 & 0x0F }
  var watermarkLSN: UInt8 { bits & 0x07 }
}

/// A meta slot.
///
/// The page table is part of it: the slot of each page, and what has to be there.
struct Meta: Equatable {
  private(set) var bits: UInt32

  init(bits: UInt32) { self.bits = bits }
  static var unreadable: Meta { Meta(bits: 0) }

  private func field(_ shift: UInt32, _ width: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: bits >> shift & (1 << width - 1))
  }
  private mutating func setField(_ shift: UInt32, _ width: UInt32, _ value: UInt8) {
    precondition(value < 1 << width, "a meta slot of the model has no room for \(value)")
    bits = bits & ~((1 << width - 1) << shift) | UInt32(value) << shift
  }

  var isReadable: Bool { number != 0 }
  /// The number of this write.
  var number: UInt8 {
    get { field(0, 5) }
    set { setField(0, 5, newValue) }
  }
  /// What the page table has: the chain value at the checkpoint.
  var commits: Commits {
    get { field(5, 4) }
    set { setField(5, 4, newValue) }
  }
  /// The life of the WAL file that follows.
  var life: UInt8 {
    get { field(9, 4) }
    set { setField(9, 4, newValue) }
  }
  var isByTurn: Bool {
    get { field(13, 1) == 1 }
    set { setField(13, 1, newValue ? 1 : 0) }
  }
  var isClean: Bool {
    get { field(14, 1) == 1 }
    set { setField(14, 1, newValue ? 1 : 0) }
  }

  func slot(_ page: Int) -> UInt8 { field(15 + 7 * UInt32(page), 3) }
  func content(_ page: Int) -> Commits { field(18 + 7 * UInt32(page), 4) }
  mutating func place(_ page: Int, slot: UInt8, content: Commits) {
    setField(15 + 7 * UInt32(page), 3, slot)
    setField(18 + 7 * UInt32(page), 4, content)
  }

  /// The slots that the table refers to, as bits.
  var slots: UInt8 { isReadable ? 1 << slot(0) | 1 << slot(1) : 0 }
  /// The same table.
  func hasTable(of other: Meta) -> Bool { bits >> 15 == other.bits >> 15 }
}

/// A reader's snapshot: the pages it would read from slots, and the version of the table it pins.
struct Reader: Equatable {
  private(set) var bits: UInt32

  init(bits: UInt32) { self.bits = bits }
  static var closed: Reader { Reader(bits: 0) }

  /// - Parameter logged: The commits whose pages the snapshot has in memory.
  init(_ table: Meta, logged: Commits, version: UInt8) {
    bits = 1 | UInt32(version) << 2
    for page in 0..<pageCount where logged & touching(page) == 0 {
      let place = UInt32(table.slot(page)) | UInt32(table.content(page)) << 3
      bits |= place << (6 + 7 * UInt32(page))
    }
  }

  var isOpen: Bool { bits & 1 != 0 }
  var hasExpired: Bool { bits & 2 != 0 }
  var version: UInt8 {
    get { UInt8(bits >> 2 & 0x0F) }
    set { bits = bits & ~(0x0F << 2) | UInt32(newValue) << 2 }
  }
  /// The slot that a page is read from; 0 if it is in memory.
  func slot(_ page: Int) -> UInt8 { UInt8(bits >> (6 + 7 * UInt32(page)) & 0x07) }
  func content(_ page: Int) -> Commits { UInt8(bits >> (9 + 7 * UInt32(page)) & 0x0F) }
  mutating func expire() { bits |= 2 }
}
