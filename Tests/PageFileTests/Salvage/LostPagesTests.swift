import PageFile
import PageFileSalvage
import Testing

/// Which cells are left when a page is destroyed, and what is said of the page.
struct LostPagesTests {
  private static let trees = [2, 5]
  private let intact = MemoryDirectory()
  private let contents: [Int: [[UInt8]: [UInt8]]]
  /// Every page with its slot, and the table's slots.
  private let pages: [PageReport]
  private let tableSlots: [UInt32]
  private let table: PageTableRoot

  init() throws {
    let database = try Database(in: intact, name: "x", options: smallPages)
    for tree in Self.trees {
      for batch in 0..<4 {
        try database.write { (source) throws(PageFileError) in
          for index in batch * 250..<batch * 250 + 250 {
            try source.put(Self.key(index), Self.value(index), tree: tree)
          }
        }
      }
    }
    var contents: [Int: [[UInt8]: [UInt8]]] = [:]
    for tree in Self.trees { contents[tree] = try database.contents(of: tree) }
    self.contents = contents
    try database.close()
    let reading = try Reading(intact)
    (pages, tableSlots, table) = (reading.pages, reading.tableSlots, reading.table)
  }

  private static func key(_ index: Int) -> [UInt8] { [7, UInt8(index >> 8), UInt8(index & 255)] }
  private static func value(_ index: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(index & 255), count: index % 97 == 0 ? 9000 : 60)
  }

  /// The pages that the table of a closed store leads to.
  private struct Reading {
    var pages: [PageReport] = []
    var tableSlots: [UInt32] = []
    let table: PageTableRoot
    private let data: [UInt8]

    init(_ files: MemoryDirectory) throws {
      data = try #require(files["x"])
      let slot = Array(data[0..<MetaSlot.byteCount])
      guard case .valid(let meta) = Bytes.with(slot, { MetaSlot.read($0) }) else {
        throw PageFileError.corruptMeta(reason: "in the test")
      }
      table = meta.table
      walk(meta.table.entry, meta.table.height - 1, 0)
    }

    private mutating func walk(_ entry: TableEntry, _ level: Int, _ place: Int) {
      guard !entry.isNone else { return }
      let page = Array(data[LostPagesTests.range(of: entry.slot.rawValue)])
      Bytes.with(page) { bytes in
        if level < 0 {
          let number = PageNumber(UInt32(place))
          let tree = bytes[PageHeader.kindOffset] == 3 ? nil : Int(bytes[PageHeader.treeOffset])
          pages.append(
            PageReport(number: number, slot: entry.slot.rawValue, tree: tree, bytes))
          return
        }
        tableSlots.append(entry.slot.rawValue)
        let count = TablePage.entryCount(pageByteCount: 4096)
        for index in 0..<count {
          let below = TableEntry(rawValue: bytes.uint64(at: TablePage.entryOffset(index)))
          walk(below, level - 1, place * count + index)
        }
      }
    }
  }

  private static func range(of slot: UInt32) -> Range<Int> {
    let start = 2 * MetaSlot.regionByteCount + (Int(slot) - 1) * 4096
    return start..<start + 4096
  }

  private func salvage(without slots: [UInt32]) throws -> PageSalvage {
    let files = intact.copy()
    for slot in slots { files.damage("x", Self.range(of: slot)) }
    let before = ["x", "x-wal0", "x-wal1"].map { files[$0] }
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(["x", "x-wal0", "x-wal1"].map { files[$0] } == before)
    return salvage
  }

  /// The cells of a leaf, as they are.
  private func keys(of page: PageReport) throws -> Set<[UInt8]> {
    let data = try #require(intact["x"])
    return Bytes.with(Array(data[Self.range(of: page.slot)])) { bytes in
      Set(CellReport.cells(of: TreePage(bytes)).map(\.key))
    }
  }

  @Test func aLostLeafTakesItsCellsAndIsNamed() throws {
    for page in pages where page.kind == "leaf" {
      let tree = try #require(page.tree)
      let salvage = try salvage(without: [page.slot])
      let keys = try keys(of: page)
      for other in Self.trees {
        let left = contents[other]?.filter { other != tree || !keys.contains($0.key) }
        #expect(salvage.contents(of: other) == left)
      }
      let lost = try #require(salvage.report.lostPages.first)
      #expect(salvage.report.lostPages.count == 1)
      #expect(lost.number == page.number && lost.slot.rawValue == page.slot && lost.tree == tree)
      #expect(lost.role == "a leaf" && lost.reason == "checksum mismatch")
      #expect(keys.allSatisfy { !$0.lexicographicallyPrecedes(lost.lower ?? []) })
      if let upper = lost.upper {
        #expect(keys.allSatisfy { $0.lexicographicallyPrecedes(upper) })
      }
      #expect(!salvage.report.isWhole)
    }
  }

  @Test func aLostBranchTakesNothing() throws {
    let branches = pages.filter { $0.kind == "branch" }
    try #require(branches.count == 2)
    for page in branches {
      let salvage = try salvage(without: [page.slot])
      for tree in Self.trees { #expect(salvage.contents(of: tree) == contents[tree]) }
      #expect(salvage.report.lostPages.map(\.role) == ["the root of its tree"])
      #expect(salvage.report.lostPages.first?.tree == page.tree)
    }
  }

  @Test func aLostTablePageTakesNothing() throws {
    for slot in tableSlots {
      let salvage = try salvage(without: [slot])
      for tree in Self.trees { #expect(salvage.contents(of: tree) == contents[tree]) }
      let lost = try #require(salvage.report.lostPages.first)
      #expect(lost.slot.rawValue == slot && lost.role?.hasSuffix("of the page table") ?? false)
    }
  }

  @Test func aLostOverflowPageTakesItsValue() throws {
    for page in pages where page.kind == "overflow" {
      let salvage = try salvage(without: [page.slot])
      var lostCount = 0
      for tree in Self.trees {
        let left = salvage.contents(of: tree)
        #expect(left.allSatisfy { contents[tree]?[$0.key] == $0.value })
        lostCount += (contents[tree]?.count ?? 0) - left.count
      }
      #expect(lostCount == 1)
      #expect(salvage.report.lostPages.map(\.number) == [page.number])
    }
  }

  @Test func sectorsThatCannotBeReadAreHoles() throws {
    let leaf = try #require(pages.last { $0.kind == "leaf" })
    let start = Self.range(of: leaf.slot).lowerBound
    let holes = [start + 512..<start + 1024, 0..<512]
    let salvage = try PageSalvage(in: HoleyDirectory(intact, holes: holes), name: "x")
    let keys = try keys(of: leaf)
    for tree in Self.trees {
      let left = contents[tree]?.filter { tree != leaf.tree || !keys.contains($0.key) }
      #expect(salvage.contents(of: tree) == left)
    }
    #expect(salvage.report.findings == ["meta slot 0 cannot be read"])
    #expect(salvage.report.lostPages.map(\.reason) == ["cannot be read"])
  }

  @Test func aShortenedFileIsReadAsFarAsItGoes() throws {
    let data = try #require(intact["x"])
    let ends = stride(from: 0, through: data.count, by: 3 * 4096 + 512)
    for end in ends {
      let files = intact.copy()
      files["x"] = Array(data[0..<end])
      guard end > 2 * MetaSlot.regionByteCount else {
        // Without a page nothing can be there; the meta slots may be.
        _ = try? PageSalvage(in: files, name: "x").contents(of: 2)
        continue
      }
      let salvage = try PageSalvage(in: files, name: "x")
      for tree in Self.trees {
        let left = salvage.contents(of: tree)
        #expect(left.allSatisfy { contents[tree]?[$0.key] == $0.value })
      }
      let isShort = pages.contains { Self.range(of: $0.slot).upperBound > end }
      #expect(salvage.report.isWhole != isShort)
    }
  }

  @Test func keysAreLookedUp() throws {
    let leaf = try #require(pages.last { $0.kind == "leaf" && $0.tree == 2 })
    let keys = try keys(of: leaf)
    let salvage = try salvage(without: [leaf.slot])
    for index in 0..<1000 {
      var value = ByteBuffer()
      let lookup = Bytes.with(Self.key(index)) { salvage.value(of: $0, in: 2, to: &value) }
      if case .found = lookup {
        #expect(value.bytes.array() == Self.value(index) && !keys.contains(Self.key(index)))
      } else if case .unknown = lookup {
        #expect(keys.contains(Self.key(index)))
      } else {
        Issue.record("key \(index) is said to have been absent")
      }
    }
    var value = ByteBuffer()
    let lookup = Bytes.with([7, 0, 5, 1]) { salvage.value(of: $0, in: 2, to: &value) }
    guard case .absent = lookup else {
      Issue.record("a key that never was is not said to be absent")
      return
    }
  }
}
