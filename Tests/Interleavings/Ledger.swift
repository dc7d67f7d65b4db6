import PageFile

/// What the store was given, commit by commit, and what it has promised; and what has gone against
/// that.
final class Ledger {
  static let keyCount = 640
  /// The budget of memory in pages.
  static let budgetPageCount = 64

  /// By key the number of the value that it has, 0 for none.
  typealias Contents = [UInt32]

  private var contents: [UInt64: Contents]
  /// The length of each value, by its number.
  private(set) var byteCounts: [Int]
  /// The last commit that has returned, the last that was tried, and the last that no power cut may
  /// take.
  private(set) var acknowledged: UInt64
  private(set) var attempted: UInt64
  private(set) var durable: UInt64
  /// About how many pages all commits that were tried have changed: no reader can keep more.
  private(set) var pageCount = 0
  /// About how many the longest of them has changed.
  private(set) var maximumPageCount = 0
  private(set) var violations: [String] = []
  private(set) var tally: [String: Int] = [:]

  /// An empty store.
  init(lsn: UInt64) {
    contents = [lsn: Contents(repeating: 0, count: Self.keyCount)]
    byteCounts = [0]
    acknowledged = lsn
    attempted = lsn
    durable = lsn
  }

  /// Whether there may be commits that change no content, as those of a compaction: they come between
  /// the others and are not noted.
  var hasSilentCommits = false

  /// How many images may be in memory when nobody reads or writes: those of the cache; those that wait in
  /// it for readers, which are 64 or a quarter of the budget; and those of the log, which an urgent writer
  /// may fill by an eighth more than the budget before its own commit.
  var maximumLivingCount: Int {
    Self.budgetPageCount * 17 / 8
      + PageCache.maximumWaitingCount(maximumPageCount: Self.budgetPageCount)
      + maximumPageCount
  }

  /// What a commit holds; nil when there is none of that number.
  func contents(at lsn: UInt64) -> Contents? {
    if !hasSilentCommits { return contents[lsn] }
    var number = lsn
    while contents[number] == nil && number > 0 { number -= 1 }
    return contents[number]
  }

  /// Whether a commit may be seen by somebody who has to see `least`.
  func mayBeSeen(_ lsn: UInt64, least: UInt64) -> Bool {
    lsn >= least && (lsn <= attempted || hasSilentCommits)
  }

  func violate(_ words: String) { violations.append(words) }
  func count(_ what: String) { tally[what, default: 0] += 1 }

  // MARK: Writing

  func newValue(byteCount: Int) -> UInt32 {
    byteCounts.append(byteCount)
    return UInt32(byteCounts.count - 1)
  }

  /// What a writer finds that builds on a commit; it has to be the newest.
  func newest(_ lsn: LSN, _ who: String) -> Contents? {
    if !mayBeSeen(lsn.rawValue, least: acknowledged) {
      violate("\(who) builds on commit \(lsn), not on one of \(acknowledged)...\(attempted)")
    }
    return contents(at: lsn.rawValue)
  }

  func willCommit(_ after: Contents, on lsn: LSN, pageCount: Int) {
    self.pageCount += pageCount
    maximumPageCount = max(maximumPageCount, pageCount)
    attempted = lsn.rawValue + 1
    contents[attempted] = after
  }

  func didCommit(_ lsn: LSN, isDurable: Bool) {
    acknowledged = max(acknowledged, lsn.rawValue)
    if isDurable { madeDurable(lsn.rawValue) }
  }

  /// Everything up to a commit is on the disk, as was promised.
  func madeDurable(_ lsn: UInt64) { durable = max(durable, lsn) }

  /// The store as it is, from which others begin.
  func settle() { (attempted, durable, pageCount) = (acknowledged, acknowledged, 0) }

  // MARK: Reading

  /// What a reader has to see who began when `least` was there; nil when it sees no right moment.
  func seen(_ lsn: LSN, least: UInt64, _ who: String) -> Contents? {
    if !mayBeSeen(lsn.rawValue, least: least) {
      violate("\(who) sees commit \(lsn) where one of \(least)...\(attempted) belongs")
    }
    return contents(at: lsn.rawValue)
  }

  /// The bytes of a value; nil for none.
  func value(_ number: UInt32, of key: Int) -> [UInt8]? {
    if number == 0 { return nil }
    var bytes = [UInt8](
      repeating: UInt8(truncatingIfNeeded: Int(number) &* 7 &+ key | 1),
      count: max(4, byteCounts[Int(number)]))
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(index))) }
    return bytes
  }

  static func key(_ key: Int) -> [UInt8] { [UInt8(key >> 8), UInt8(key & 255)] }

  func copy() -> Ledger {
    let other = Ledger(lsn: 0)
    other.contents = contents
    other.byteCounts = byteCounts
    other.acknowledged = acknowledged
    other.attempted = attempted
    other.durable = durable
    other.hasSilentCommits = hasSilentCommits
    return other
  }
}
