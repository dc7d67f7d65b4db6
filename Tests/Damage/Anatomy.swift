package import PageFile

/// Which structure each byte of a store's files belongs to, read from the format document and not with
/// the engine's own walks.
package struct Anatomy: Sendable {
  package enum Structure: String, Sendable, CaseIterable {
    case metaSlot = "meta slot"
    case tablePage = "table page"
    case branch = "branch page"
    case leaf = "leaf page"
    case overflow = "overflow page"
    case walHeader = "WAL header"
    case commitHeader = "commit header"
    case frames = "frames"
    case watermark = "watermark"
    /// A page of an older table, or one that a fresh frame of the log replaces.
    case replaced = "replaced page"
    /// A commit that a checkpoint has moved to the data file.
    case remains = "replaced commit"
    case unused = "unused"
  }

  package struct Part: Sendable {
    package let file: String
    package let range: Range<Int>
    package let structure: Structure
    /// The slot it lies in, for pages.
    package var slot: Int?
    /// The page's number, for pages that are no table pages.
    package var page: PageNumber?
  }

  /// In the order of the files and their bytes, without gaps.
  package private(set) var parts: [Part] = []

  package init(_ files: MemoryDirectory) {
    let checkpointLSN =
      files[Specimen.storeName].flatMap { Self.metas(in: $0).first?.checkpointLSN } ?? .zero
    for name in Specimen.fileNames {
      guard let bytes = files[name] else { continue }
      let found =
        name == Specimen.storeName ? Self.pages(bytes) : Self.log(bytes, name, checkpointLSN)
      var end = 0
      for part in found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
        addUnused(name, end..<part.range.lowerBound)
        parts.append(part)
        end = part.range.upperBound
      }
      addUnused(name, end..<bytes.count)
    }
    replaceFreshPages(files)
  }

  private mutating func addUnused(_ file: String, _ range: Range<Int>) {
    if !range.isEmpty { parts.append(Part(file: file, range: range, structure: .unused)) }
  }

  // MARK: The data file

  package static func metas(in bytes: [UInt8]) -> [MetaSlot] {
    (0..<2).compactMap { index in
      let offset = MetaSlot.offset(of: index)
      guard bytes.count >= offset + MetaSlot.byteCount else { return nil }
      let reading = Bytes.with(Array(bytes[offset..<offset + MetaSlot.byteCount])) {
        MetaSlot.read($0)
      }
      return if case .valid(let meta) = reading { meta } else { nil }
    }.sorted { $0.writeNumber > $1.writeNumber }
  }

  private static func pages(_ bytes: [UInt8]) -> [Part] {
    var parts = (0..<2).map { index in
      let offset = MetaSlot.offset(of: index)
      return Part(
        file: Specimen.storeName, range: offset..<offset + MetaSlot.byteCount,
        structure: .metaSlot)
    }
    var seen: Set<UInt32> = []
    for (age, meta) in metas(in: bytes).enumerated() {
      walk(meta.table.entry, level: meta.table.height - 1, bytes, meta.pageByteCount) {
        slot, number, isTable in
        guard seen.insert(slot).inserted else { return }
        let offset = slotOffset(slot, meta.pageByteCount)
        let range = offset..<offset + meta.pageByteCount
        guard range.upperBound <= bytes.count else { return }
        let kind = PageKind(rawValue: bytes[offset + PageHeader.kindOffset])
        parts.append(
          Part(
            file: Specimen.storeName, range: range,
            structure: age > 0 ? .replaced : structure(of: kind), slot: Int(slot),
            page: isTable ? nil : number))
      }
    }
    return parts
  }

  private static func structure(of kind: PageKind?) -> Structure {
    switch kind {
    case .leaf: .leaf
    case .branch: .branch
    case .overflow: .overflow
    case .table: .tablePage
    case nil: .unused
    }
  }

  package static func slotOffset(_ slot: UInt32, _ pageByteCount: Int) -> Int {
    2 * MetaSlot.regionByteCount + (Int(slot) - 1) * pageByteCount
  }

  /// Visits the slots that a table uses: those of its own pages, and those of the pages it leads to.
  private static func walk(
    _ entry: TableEntry, level: Int, place: Int = 0, _ bytes: [UInt8], _ pageByteCount: Int,
    _ visit: (_ slot: UInt32, _ number: PageNumber, _ isTable: Bool) -> Void
  ) {
    guard level >= 0, !entry.isNone else { return }
    visit(entry.slot.rawValue, .none, true)
    let start = slotOffset(entry.slot.rawValue, pageByteCount)
    guard start + pageByteCount <= bytes.count else { return }
    let count = TablePage.entryCount(pageByteCount: pageByteCount)
    let entries = Bytes.with(Array(bytes[start..<start + pageByteCount])) { page in
      (0..<count).map { TableEntry(rawValue: page.uint64(at: TablePage.entryOffset($0))) }
    }
    for (index, child) in entries.enumerated() where !child.isNone {
      if level > 0 {
        walk(child, level: level - 1, place: place * count + index, bytes, pageByteCount, visit)
      } else {
        visit(child.slot.rawValue, PageNumber(UInt32(place * count + index)), false)
      }
    }
  }

  // MARK: The log

  private static func header(_ bytes: [UInt8]) -> WALHeader? {
    guard bytes.count >= WALHeader.byteCount else { return nil }
    return Bytes.with(Array(bytes[..<WALHeader.byteCount])) { WALHeader($0) }
  }

  /// The commits of a WAL file's own generation, one behind the other from the first place on.
  package static func commits(in bytes: [UInt8]) -> [(header: WALCommitHeader, offset: Int)] {
    guard let header = header(bytes) else { return [] }
    var commits: [(header: WALCommitHeader, offset: Int)] = []
    var offset = WALHeader.commitsOffset
    while offset + WALHeader.sectorByteCount <= bytes.count {
      let commit = Bytes.with(Array(bytes[offset..<offset + WALHeader.sectorByteCount])) {
        WALCommitHeader($0, storeID: header.storeID, offset: offset)
      }
      guard let commit, commit.generation == header.generation else { break }
      commits.append((commit, offset))
      offset += commit.paddedByteCount
    }
    return commits
  }

  /// Where watermarks are, whatever life of the file they are from.
  package static func watermarks(in bytes: [UInt8]) -> [Int] {
    guard let header = header(bytes) else { return [] }
    return stride(from: WALHeader.commitsOffset, through: bytes.count - 512, by: 512).filter {
      offset in
      bytes[offset] == 0x57
        && Bytes.with(Array(bytes[offset..<offset + WALHeader.sectorByteCount])) {
          WALWatermark($0, storeID: header.storeID, offset: offset)
        } != nil
    }
  }

  /// The greatest LSN that something in the logs proves to have been durable.
  package static func witnessedLSN(in files: MemoryDirectory) -> Int {
    Specimen.fileNames.dropFirst().compactMap { files[$0] }.map { bytes in
      guard let header = header(bytes), !header.isEmpty else { return 0 }
      let sectors = stride(
        from: WALHeader.commitsOffset, through: bytes.count - WALHeader.sectorByteCount,
        by: WALHeader.sectorByteCount)
      return sectors.map { offset in
        Bytes.with(Array(bytes[offset..<offset + WALHeader.sectorByteCount])) { sector in
          let commit = WALCommitHeader(sector, storeID: header.storeID, offset: offset)
          if let commit, commit.generation == header.generation {
            return Int(commit.durableLSN.rawValue)
          }
          let watermark = WALWatermark(sector, storeID: header.storeID, offset: offset)
          guard let watermark, watermark.generation == header.generation else { return 0 }
          return Int(watermark.durableLSN.rawValue)
        }
      }.max() ?? 0
    }.max() ?? 0
  }

  private static func log(_ bytes: [UInt8], _ name: String, _ checkpointLSN: LSN) -> [Part] {
    var parts = [Part(file: name, range: 0..<72, structure: .walHeader)]
    var end = WALHeader.commitsOffset
    for (commit, offset) in commits(in: bytes) {
      let frames = offset + WALCommitHeader.byteCount
      let chain = frames + commit.framesByteCount + WALCommitHeader.trailerByteCount
      if commit.lsn > checkpointLSN {
        parts.append(Part(file: name, range: offset..<frames, structure: .commitHeader))
        parts.append(Part(file: name, range: frames..<chain, structure: .frames))
      } else {
        parts.append(Part(file: name, range: offset..<chain, structure: .remains))
      }
      end = offset + commit.paddedByteCount
    }
    if watermarks(in: bytes).contains(end) {
      parts.append(Part(file: name, range: end..<end + 40, structure: .watermark))
    }
    return parts
  }

  /// Pages that the log makes from zeros, or frees, no longer need what their slot holds.
  private mutating func replaceFreshPages(_ files: MemoryDirectory) {
    guard let meta = files[Specimen.storeName].flatMap({ Self.metas(in: $0).first }) else { return }
    var decided: Set<UInt32> = []
    var replaced: Set<UInt32> = []
    let logs = Specimen.fileNames.dropFirst().compactMap { files[$0] }
      .compactMap { bytes in Self.header(bytes).map { (bytes, $0.generation.counter) } }
      .filter { $0.1 >= meta.generation.counter }.sorted { $0.1 < $1.1 }
    for (bytes, _) in logs {
      for (commit, offset) in Self.commits(in: bytes) where commit.lsn > meta.checkpointLSN {
        let start = offset + WALCommitHeader.byteCount
        Bytes.with(Array(bytes[start..<start + commit.framesByteCount])) { frames in
          var reader = ByteReader(frames)
          while let frame = PagePatch.nextFrame(&reader) {
            guard frame.kind != .words, decided.insert(frame.number.rawValue).inserted else {
              continue
            }
            if frame.kind != .patch { replaced.insert(frame.number.rawValue) }
          }
        }
      }
    }
    parts = parts.map { part in
      guard let page = part.page, replaced.contains(page.rawValue) else { return part }
      return Part(
        file: part.file, range: part.range, structure: .replaced, slot: part.slot, page: page)
    }
  }
}
