/// The reports of `Inspector`: plain values, meant for printing.

/// A report on a store's files as a whole.
package struct FileReport: Sendable {
  package var formatVersion: UInt32
  package var pageByteCount: Int
  /// The store id in hexadecimal digits.
  package internal(set) var storeID: String
  package var generation: UInt64
  package var checkpointLSN: LSN
  package internal(set) var lastLSN: LSN
  package var isClean: Bool
  package var slotCount: Int
  package var freeSlotCount: Int
  package internal(set) var pageCount: Int
  package internal(set) var dataFileByteCount: Int
  package internal(set) var walByteCounts: [Int]
  package internal(set) var trees: [TreeReport]
  package internal(set) var pagesByKind: [(kind: String, count: Int)]
  /// The words, see `Words`.
  package var words: [UInt64]
  /// The key of an encrypted store.
  package internal(set) var key: Key?

  /// The facts about the key of an encrypted store.
  package struct Key: Sendable {
    /// The number of the app's key: 1 for the first one.
    package internal(set) var number: UInt32
    /// The number of seals under the data key, as far as it is known.
    package internal(set) var sealCount: UInt64
  }
}

/// A report on one tree.
package struct TreeReport: Sendable {
  package internal(set) var number: Int
  package internal(set) var root: PageNumber
  /// The number of branch, leaf and overflow pages.
  package internal(set) var pageCount = 0
  /// The number of levels of branch and leaf pages.
  package internal(set) var depth = 0
  /// The number of cells in leaf pages, which is the number of keys in the tree.
  package internal(set) var cellCount = 0
}

/// A report on one page.
package struct PageReport: Sendable {
  package internal(set) var number: PageNumber
  /// The slot number; 0 while the page is only in the log.
  package internal(set) var slot: UInt32 = 0
  package var kind: String
  package var tree: Int?
  package internal(set) var level = 0
  package internal(set) var cellCount = 0
  /// The used share of the page, 0 to 1.
  package var fill = 0.0
  package var lsn = LSN.zero

  init(number: PageNumber, kind: String) {
    self.number = number
    self.kind = kind
  }

  package init(number: PageNumber, slot: UInt32, tree: Int?, _ bytes: Bytes) {
    self.number = number
    self.slot = slot
    self.tree = tree
    lsn = LSN(bytes.uint64(at: PageHeader.lsnOffset))
    level = Int(bytes[PageHeader.levelOffset])
    let kind = PageKind(rawValue: bytes[PageHeader.kindOffset])
    self.kind = kind.map { "\($0)" } ?? "unknown"
    let size = bytes.count
    switch kind {
    case .leaf?, .branch?:
      cellCount = Int(bytes.uint16(at: PageHeader.cellCountOffset))
      let free =
        Int(bytes.uint16(at: PageHeader.cellAreaStartOffset)) - PageHeader.byteCount - 2 * cellCount
        + Int(bytes.uint16(at: PageHeader.freedByteCountOffset))
      fill = 1 - Double(free) / Double(size)
    case .overflow?:
      fill = Double(OverflowPage(bytes).content.count + PageHeader.byteCount) / Double(size)
    default: break
    }
  }
}

/// A report on one cell of a tree page.
package struct CellReport: Sendable {
  package internal(set) var index: Int
  package internal(set) var key: [UInt8]
  package internal(set) var valueByteCount: Int
  /// The bytes of a value that lies in the page; empty for one in an overflow chain.
  package internal(set) var value: [UInt8] = []
  /// The child page of a branch cell.
  package internal(set) var child: PageNumber?
  /// True if the value is in an overflow chain.
  package internal(set) var overflow: Bool

  /// Returns the cells of a tree page in key order.
  package static func cells(of page: TreePage) -> [CellReport] {
    (0..<page.cellCount).map { index in
      let isMinusInfinity = index < page.firstKeyIndex
      let key = isMinusInfinity ? [] : page.prefix.array() + page.suffix(index).array()
      guard page.isLeaf else {
        return CellReport(
          index: index, key: key, valueByteCount: 0, child: page.child(index), overflow: false)
      }
      let value = page.valueRange(index)
      return CellReport(
        index: index, key: key, valueByteCount: value.byteCount,
        value: page.inlineValue(index)?.array() ?? [], child: nil,
        overflow: value.isOverflow)
    }
  }
}

/// The contents of the two WAL files.
package struct WALReport {
  package internal(set) var commits: [CommitReport] = []
  package internal(set) var stops: [(file: String, reason: String)] = []

  /// Creates a report without a commit.
  package init() {}

  mutating func addCommits(
    of file: any StorageFile, _ name: String, _ header: WALHeader, _ keys: StoreKeys?
  ) throws(PageFileError) {
    var scan = try WALScan(file, header, keys)
    while true {
      var commit: CommitReport?
      let stop = try scan.next { (found) throws(PageFileError) in
        commit = CommitReport(
          file: name, offset: found.offset, byteCount: found.byteCount,
          lsn: found.header.lsn, durableLSN: found.header.durableLSN,
          frameCount: found.header.frameCount, words: Self.words(found))
      }
      if let commit { commits.append(commit) }
      guard let stop else { continue }
      switch stop {
      case .end:
        stops.append((file: name, reason: "commits end at offset \(scan.offset)"))
      case .broken(let reason):
        // Mostly the remains of an earlier use of the file; recovery tells them from damage.
        stops.append(
          (
            file: name,
            reason: "commits end at offset \(scan.offset); other bytes follow (\(reason))"
          ))
      }
      return
    }
  }
}

extension WALReport {
  /// Returns the words that a commit changes.
  fileprivate static func words(_ commit: WALScan.Commit) -> [(index: Int, word: UInt64)] {
    var reader = ByteReader(commit.frames)
    while let frame = PagePatch.nextFrame(&reader) {
      if frame.kind == .words { return WordsFrame.entries(frame) ?? [] }
    }
    return []
  }
}

/// A report on one commit in a WAL file.
package struct CommitReport: Sendable {
  package var file: String
  package internal(set) var offset: Int
  package var byteCount: Int
  package var lsn: LSN
  package var durableLSN: LSN
  package internal(set) var frameCount: Int
  /// The words that the commit changes.
  package var words: [(index: Int, word: UInt64)] = []
}
