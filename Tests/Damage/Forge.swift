package import PageFile

/// A data file made by hand: any pages in any slots, with the table, the checksums and the meta slots that make
/// a reader believe them.
package struct Forge {
  package var meta: MetaSlot
  /// The pages by their numbers, without checksums; bytes 0 ..< 16 are filled in.
  package var pages: [UInt32: [UInt8]] = [:]
  /// Pages lie in the slots from here on, the table's own behind them.
  package var firstSlot: UInt32 = 1

  /// - Parameter meta: What to begin from: a meta slot of a store that was closed.
  package init(_ meta: MetaSlot) {
    self.meta = meta
    self.meta.isClean = true
    self.meta.table = .empty
    self.meta.roots = Roots()
  }

  /// An empty store's meta slot.
  package static func emptyMeta(pageByteCount: Int = 4096) throws(PageFileError) -> MetaSlot? {
    let files = MemoryDirectory()
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    try Database(in: files, name: Specimen.storeName, options: options).close()
    return files[Specimen.storeName].flatMap { Anatomy.metas(in: $0).first }
  }

  // MARK: Pages

  /// A page of zeros with its kind and level.
  package func page(_ kind: PageKind, level: UInt8 = 0) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: meta.pageByteCount)
    page[PageHeader.kindOffset] = kind.rawValue
    page[PageHeader.levelOffset] = level
    return page
  }

  /// A leaf or branch page with cells as they are.
  package func treePage(_ kind: PageKind, level: UInt8, cells: [[UInt8]]) -> [UInt8] {
    var page = page(kind, level: level)
    var start = page.count
    for (index, cell) in cells.enumerated() {
      start -= cell.count
      page.replaceSubrange(start..<start + cell.count, with: cell)
      Self.store(UInt64(start), 2, in: &page, at: PageHeader.byteCount + 2 * index)
    }
    Self.store(UInt64(cells.count), 2, in: &page, at: PageHeader.cellCountOffset)
    Self.store(UInt64(start), 2, in: &page, at: PageHeader.cellAreaStartOffset)
    return page
  }

  /// A branch page that leads to some pages; separators are made up.
  package func branch(level: UInt8, to children: [UInt32]) -> [UInt8] {
    let cells = children.enumerated().map { index, child in
      let separator = index == 0 ? [] : [UInt8(index)]
      return [UInt8(separator.count)] + separator + Self.bytes(UInt64(child), 4)
    }
    return treePage(.branch, level: level, cells: cells)
  }

  /// A leaf with short keys and values.
  package func leaf(_ cells: [(key: [UInt8], value: [UInt8])]) -> [UInt8] {
    treePage(
      .leaf, level: 0,
      cells: cells.map { cell in
        [UInt8(cell.key.count)] + cell.key + [UInt8(cell.value.count * 2)] + cell.value
      })
  }

  /// A leaf whose one value lies in a chain.
  package func leaf(key: [UInt8], valueByteCount: Int, chain: UInt32) -> [UInt8] {
    leaf([(key, valueByteCount, chain)])
  }

  /// A leaf whose values lie in chains.
  package func leaf(
    _ cells: [(key: [UInt8], valueByteCount: Int, chain: UInt32)]
  ) -> [UInt8] {
    treePage(.leaf, level: 0, cells: cells.map { Self.cell($0.key, $0.valueByteCount, $0.chain) })
  }

  private static func cell(_ key: [UInt8], _ valueByteCount: Int, _ chain: UInt32) -> [UInt8] {
    var varint: [UInt8] = []
    var rest = valueByteCount << 1 | 1
    while rest >= 0x80 {
      varint.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    varint.append(UInt8(rest))
    return [UInt8(key.count)] + key + varint + bytes(UInt64(chain), 4)
  }

  /// A full link of an overflow chain.
  package func link(to next: UInt32) -> [UInt8] {
    var page = page(.overflow)
    for offset in PageHeader.byteCount..<page.count { page[offset] = 7 }
    Self.store(UInt64(page.count - PageHeader.byteCount), 2, in: &page, at: 22)
    Self.store(UInt64(next), 4, in: &page, at: 24)
    return page
  }

  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  package static func store(
    _ value: UInt64, _ count: Int, in bytes: inout [UInt8], at offset: Int
  ) {
    bytes.replaceSubrange(offset..<offset + count, with: Self.bytes(value, count))
  }

  /// Gives a meta slot of a data file the checksum that belongs to its bytes.
  package static func sealMeta(_ bytes: inout [UInt8], _ slot: Int) {
    let offset = MetaSlot.offset(of: slot)
    let end = offset + MetaSlot.byteCount - 8
    let checksum = Bytes.with(Array(bytes[offset..<end])) {
      Checksum.of($0, seed: Checksum.seed(0x4D45_5441))
    }
    store(checksum, 8, in: &bytes, at: end)
  }

  // MARK: Writing

  /// Calls `put` for each part of the data file with its offset.
  package func write(_ put: (Int, [UInt8]) -> Void) {
    var slot = firstSlot
    var meta = meta
    meta.table = .empty
    var entries: [Int: TableEntry] = [:]
    for (number, page) in pages.sorted(by: { $0.key < $1.key }) {
      let sealed = sealed(page, number: number)
      put(Anatomy.slotOffset(slot, meta.pageByteCount), sealed)
      entries[Int(number)] = entry(of: sealed, in: slot)
      slot += 1
    }
    while let greatest = entries.keys.max(), greatest > 0 || meta.table.height == 0 {
      var above: [Int: TableEntry] = [:]
      for (place, page) in tablePages(entries, level: meta.table.height) {
        let sealed = sealed(page, number: UInt32(place))
        put(Anatomy.slotOffset(slot, meta.pageByteCount), sealed)
        above[place] = entry(of: sealed, in: slot)
        meta.table.entry = entry(of: sealed, in: slot)
        meta.table.checksum = checksum(of: sealed)
        slot += 1
      }
      entries = above
      meta.table.height += 1
    }
    for index in 0..<2 {
      var bytes = meta.encode()
      put(MetaSlot.offset(of: index), bytes.bytes.array())
      bytes.removeAll()
      meta.writeNumber -= 1
    }
  }

  /// The table pages of one level that have entries, by their place.
  private func tablePages(_ entries: [Int: TableEntry], level: Int) -> [Int: [UInt8]] {
    let entryCount = TablePage.entryCount(pageByteCount: meta.pageByteCount)
    var pages: [Int: [UInt8]] = [:]
    for (index, entry) in entries {
      let place = index / entryCount
      let offset = TablePage.entryOffset(index - place * entryCount)
      Self.store(
        entry.rawValue, 8, in: &pages[place, default: page(.table, level: UInt8(level))],
        at: offset)
    }
    return pages
  }

  /// A page with its number, its LSN and the checksum that belongs to it.
  private func sealed(_ page: [UInt8], number: UInt32) -> [UInt8] {
    var page = page
    Self.store(UInt64(number), 4, in: &page, at: PageHeader.numberOffset)
    Self.store(meta.checkpointLSN.rawValue, 8, in: &page, at: PageHeader.lsnOffset)
    Self.store(checksum(of: page), 8, in: &page, at: PageHeader.checksumOffset)
    return page
  }

  private func checksum(of page: [UInt8]) -> UInt64 {
    Bytes.with(page) { page in
      let number = UInt64(page.uint32(at: PageHeader.numberOffset))
      let kind = UInt64(page[PageHeader.kindOffset])
      return Checksum.of(
        page.dropFirst(PageHeader.lsnOffset),
        seed: Checksum.seed(meta.storeID.high, meta.storeID.low, number, kind))
    }
  }

  private func entry(of page: [UInt8], in slot: UInt32) -> TableEntry {
    TableEntry(slot: SlotNumber(slot), check: UInt32(truncatingIfNeeded: checksum(of: page)))
  }

  /// The data file as a whole.
  package func files() -> MemoryDirectory {
    var bytes = [UInt8](repeating: 0, count: 2 * MetaSlot.regionByteCount)
    write { offset, part in
      let end = offset + part.count
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(offset..<end, with: part)
    }
    let files = MemoryDirectory()
    files[Specimen.storeName] = bytes
    return files
  }
}
