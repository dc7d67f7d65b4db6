import PageFile
import Simulation
import Testing

/// A database in memory and its one open write transaction, in which a tree is tested; all of it is
/// one bracket of reads.
final class TreeTestStore {
  private let database: Database
  private var transaction: WriteTransaction?
  private(set) var source: PageSource

  init(pageSize: Int) throws(PageFileError) {
    var options = DatabaseOptions()
    options.pageByteCount = pageSize
    database = try Database(in: MemoryDirectory(), name: "tree", options: options)
    let transaction = try database.beginWrite()
    source = transaction.source
    self.transaction = consume transaction
    try source.enter()
  }

  /// Before the database goes, as closing it waits for the writer.
  deinit {
    source.leave()
    transaction.take()?.rollback()
  }

  /// Commits, answers what a check of the whole file finds, and begins a new transaction.
  func commitAndCheck() throws(PageFileError) -> [CheckFinding] {
    source.leave()
    _ = try transaction.take()?.commit(.relaxed)
    let findings = try database.findings()
    let next = try database.beginWrite()
    source = next.source
    transaction = consume next
    try source.enter()
    return findings
  }
}

/// The pages of the tree under test, as its own check walks them.
func pageNumbers(of source: PageSource) -> Set<PageNumber> {
  var numbers = Set<PageNumber>()
  try? BTree(source, treeUnderTest).check(visit: { numbers.insert($0) }, report: { _, _ in })
  return numbers
}

/// A page to be damaged behind the tree's back.
func rawPage(_ number: PageNumber, of source: PageSource) throws(PageFileError) -> MutableBytes {
  try source.edit(number)
}

/// Which rule of its kind a page breaks: what would keep it out if it came from the file.
///
/// A source does not ask this of pages that its own transaction has changed.
func ruleBroken(_ page: Bytes) -> String? {
  switch PageKind(rawValue: page[PageHeader.kindOffset]) {
  case .leaf?, .branch?: TreePage.ruleBroken(page)
  case .overflow?: OverflowPage.ruleBroken(page)
  case .table?, nil: "not a page of a tree"
  }
}

let treeUnderTest = TreeNumber(0)

/// The tree with arrays for keys and values.
struct ArrayTree {
  let store: TreeTestStore
  var source: PageSource { store.source }
  var tree: BTree { BTree(source, treeUnderTest) }

  init(pageSize: Int) throws(PageFileError) { store = try TreeTestStore(pageSize: pageSize) }

  func insert(_ key: [UInt8], _ value: [UInt8]) throws(PageFileError) -> Bool {
    try source.enter()
    defer { source.leave() }
    return try Bytes.with(key) { (key) throws(PageFileError) in
      try Bytes.with(value) { (value) throws(PageFileError) in try tree.insert(key, value) }
    }
  }

  func remove(_ key: [UInt8]) throws(PageFileError) -> Bool {
    try source.enter()
    defer { source.leave() }
    return try Bytes.with(key) { (key) throws(PageFileError) in try tree.remove(key) }
  }

  func rekey(_ key: [UInt8], to other: [UInt8], _ value: [UInt8]) throws(PageFileError) -> Bool {
    try source.enter()
    defer { source.leave() }
    return try Bytes.with(key) { (key) throws(PageFileError) in
      try Bytes.with(other) { (other) throws(PageFileError) in
        try Bytes.with(value) { (value) throws(PageFileError) in
          try tree.rekey(key, to: other, value)
        }
      }
    }
  }

  func contains(_ key: [UInt8]) throws(PageFileError) -> Bool {
    try source.enter()
    defer { source.leave() }
    return try Bytes.with(key) { (key) throws(PageFileError) in try tree.contains(key) }
  }

  func value(_ key: [UInt8]) throws(PageFileError) -> [UInt8]? {
    try source.enter()
    defer { source.leave() }
    var buffer = ByteBuffer()
    let isThere = try Bytes.with(key) { (key) throws(PageFileError) in
      try tree.value(of: key, appendTo: &buffer)
    }
    return isThere ? buffer.bytes.array() : nil
  }

  /// All leaves from left to right.
  ///
  /// Valid while the transaction that made them is open.
  func leaves() throws -> [TreePage] {
    try source.enter()
    defer { source.leave() }
    var leaves: [TreePage] = []
    func walk(_ number: PageNumber) throws {
      let page = try source.treePage(number)
      if page.isLeaf { return leaves.append(page) }
      for index in 0..<page.cellCount { try walk(page.child(index)) }
    }
    let root = source.root(of: treeUnderTest)
    if root != .none { try walk(root) }
    return leaves
  }

  /// What all leaves together are filled to, 0 to 1.
  func leafFill() throws -> Double {
    let leaves = try leaves()
    let used = leaves.reduce(0) { $0 + $1.usedByteCount }
    let capacity = leaves.reduce(0) { $0 + $1.capacity }
    return Double(used) / Double(capacity)
  }

  /// What a check of the tree finds, and what it cannot know: that free bytes are zeros.
  func findings() -> [String] {
    var findings: [String] = []
    do throws(PageFileError) {
      try tree.check(visit: { _ in }) { findings.append("\($0): \($1)") }
    } catch {
      findings.append("the check ended: \(error)")
    }
    for leaf in (try? leaves()) ?? [] {
      if let dirt = slackDirt(leaf) { findings.append("\(leaf.number): \(dirt)") }
    }
    return findings
  }
}

/// Free bytes of a page that are not zeros.
func slackDirt(_ page: TreePage) -> String? {
  var owned = [
    0..<PageHeader.byteCount + page.cellCount * Cell.pointerByteCount,
    page.cellAreaEnd..<page.bytes.count,
  ]
  for index in 0..<page.cellCount {
    let start = page.cellOffset(index)
    owned.append(start..<start + page.cellByteCount(index))
  }
  owned.sort { $0.lowerBound < $1.lowerBound }
  var end = 0
  for range in owned {
    let gap = end..<max(end, range.lowerBound)
    if let dirty = page.bytes.firstNonZero(in: gap) { return "free byte \(dirty) is not zero" }
    end = max(end, range.upperBound)
  }
  return nil
}

func bigEndian(_ number: Int) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
}

extension Cursor {
  /// The cell as arrays.
  func cell() throws -> (key: [UInt8], value: [UInt8]) {
    var key = ByteBuffer()
    var value = ByteBuffer()
    appendKey(to: &key)
    try appendValue(to: &value)
    return (key.bytes.array(), value.bytes.array())
  }
}
