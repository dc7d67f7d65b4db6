import PageFile

/// Edits: what an input does to a seed store before its checksums are made right.
extension StoreImage {
  private static let maximumEditCount = 24

  /// Reads a list of edits and makes them; then repairs what proves something.
  ///
  /// A few edits come after the repair, for the paths on which a checksum differs.
  mutating func edit(_ input: inout FuzzInput) {
    let count = input.index(below: Self.maximumEditCount + 1)
    let late = Int(input.byte())
    var isRepaired = false
    for index in 0..<count {
      // Mostly nothing is left unrepaired.
      if late > 200 && !isRepaired && index >= late - 200 {
        repair()
        isRepaired = true
      }
      editOnce(&input)
    }
    if !isRepaired { repair() }
  }

  private mutating func editOnce(_ input: inout FuzzInput) {
    let kind = input.index(below: 18)
    input.note("edit of kind \(kind)")
    switch kind {
    case 0, 1: editMetaSlot(&input)
    case 2: editPageHeader(&input)
    case 3: editPageBytes(&input)
    case 4, 5: editCell(&input)
    case 6: editTable(&input)
    case 7: copyPage(&input)
    case 8, 9: buildTreePage(&input)
    case 10: buildOverflowPage(&input)
    case 11: editLogHeader(&input)
    case 12: editCommit(&input)
    case 13: editFrames(&input)
    case 14, 15: appendCommit(&input)
    case 16: editFile(&input)
    default: editRaw(&input)
    }
  }

  /// A field of fixed size in some structure.
  typealias Field = (offset: Int, byteCount: Int)

  // MARK: Meta slots

  private static let fixedFields: [Field] = [
    (8, 4), (12, 4), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8), (56, 8), (64, 8), (72, 8),
    (80, 8), (88, 8), (96, 1), (97, 1), (98, 1), (99, 1), (100, 4), (104, 4), (108, 4), (112, 8),
    (184, 4), (252, 8),
  ]

  private static let rootFields: [Field] = (0..<Roots.maximumCount).map { (120 + 4 * $0, 4) }

  /// Eight words come before the number of seals, and the others behind it.
  private static let wordFields: [Field] = (0..<Words.count).map { (index: Int) -> Field in
    let offset = index < 8 ? 188 + 8 * index : 260 + 8 * (index - 8)
    return (offset: offset, byteCount: 8)
  }

  private static let metaFields: [Field] = fixedFields + rootFields + wordFields

  private mutating func editMetaSlot(_ input: inout FuzzInput) {
    let which = input.index(below: 4)
    let field = Self.metaFields[input.index(below: Self.metaFields.count)]
    let value = input.number()
    // Mostly both, as whoever publishes writes both.
    for slot in 0..<2 where which >= 2 || which == slot {
      data.store(value, field.byteCount, at: MetaSlot.offset(of: slot) + field.offset)
    }
  }

  // MARK: Pages

  /// The offset of some slot; nil if there is none.
  private func slotOffset(_ input: inout FuzzInput) -> Int? {
    let index = input.index(below: slotCount)
    return slotCount == 0 ? nil : offset(ofSlot: index + 1)
  }

  private static let pageFields: [Field] = [
    (8, 8), (16, 4), (20, 1), (21, 1), (22, 2), (24, 2), (26, 2), (28, 2), (30, 1), (31, 1),
    (24, 4),
    (28, 4),
  ]

  private mutating func editPageHeader(_ input: inout FuzzInput) {
    guard let page = slotOffset(&input) else { return }
    let field = Self.pageFields[input.index(below: Self.pageFields.count)]
    data.store(input.number(), field.byteCount, at: page + field.offset)
    if input.bool() { countFreedBytes(page) }
  }

  private mutating func editPageBytes(_ input: inout FuzzInput) {
    guard let page = slotOffset(&input) else { return }
    let offset = Int(input.raw(2)) % pageByteCount
    let bytes = input.take(input.index(below: 16) + 1)
    data.store(Array(bytes.prefix(pageByteCount - offset)), at: page + offset)
  }

  private mutating func editCell(_ input: inout FuzzInput) {
    guard let page = slotOffset(&input) else { return }
    let count = min(Int(data.uint(2, at: page + 22)), pageByteCount / 2 - 16)
    guard count > 0 else { return }
    let pointer = page + PageHeader.byteCount + 2 * input.index(below: count)
    let other = page + PageHeader.byteCount + 2 * input.index(below: count)
    let start = page + Int(data.uint(2, at: pointer)) % pageByteCount
    let suffixByteCount = Int(data.uint(1, at: start))
    let payload = start + 1 + suffixByteCount
    switch input.index(below: 8) {
    case 0: data.store(input.number(), 2, at: pointer)
    case 1: data.store(data.uint(2, at: other), 2, at: pointer)
    case 2: data.store(input.number(), 1, at: start)
    case 3: data.store(input.number(), 1, at: start + 1 + input.index(below: suffixByteCount))
    case 4: data.store(input.number(), 4, at: payload)  // The child of a branch cell.
    case 5: data.store(input.number(), 1, at: payload)
    case 6:  // The length of a value in a chain, and where that begins.
      let value = input.number() << 1 | 1
      for byte in 0..<3 { data.store(value >> UInt64(7 * byte) | 0x80, 1, at: payload + byte) }
      data.store(value >> 21 & 0x7F, 1, at: payload + 3)
      data.store(input.number(), 4, at: payload + 4)
    default: data.store(input.number(), 4, at: payload + 1 + input.index(below: 3))
    }
    if input.bool() { countFreedBytes(page) }
  }

  /// Makes area start and freed byte count say what the cells say, so that the gate goes on to the
  /// cells themselves.
  private mutating func countFreedBytes(_ page: Int) {
    let count = min(Int(data.uint(2, at: page + 22)), pageByteCount / 2 - 16)
    let isLeaf = data.uint(1, at: page + PageHeader.kindOffset) == 1
    let end = pageByteCount - Int(data.uint(2, at: page + 28))
    var lowest = end
    var used = 0
    for index in 0..<count {
      let start = Int(data.uint(2, at: page + PageHeader.byteCount + 2 * index))
      lowest = min(lowest, start)
      used += cellByteCount(page, start, isLeaf: isLeaf)
    }
    data.store(UInt64(max(0, lowest)), 2, at: page + 24)
    data.store(UInt64(max(0, end - lowest - used)), 2, at: page + 26)
  }

  private func cellByteCount(_ page: Int, _ start: Int, isLeaf: Bool) -> Int {
    let page = Array(data[page..<page + pageByteCount])
    return Bytes.with(page) { bytes in
      var reader = ByteReader(bytes, at: start)
      _ = reader.take(Int((reader.varint() ?? 0) & 0xFFFF))
      if isLeaf, let word = reader.varint() {
        _ = reader.take(word & 1 == 1 ? 4 : Int(word >> 1 & 0xFFFF))
      } else {
        _ = reader.take(4)
      }
      return max(0, reader.offset - start)
    }
  }

  private mutating func editTable(_ input: inout FuzzInput) {
    let meta = MetaSlot.offset(of: input.index(below: 2))
    var table = Int(data.uint(4, at: meta + 104))
    guard table >= 1, table <= slotCount else { return }
    // Sometimes a table page of the level below.
    if input.bool() {
      let below = Int(data.uint(4, at: offset(ofSlot: table) + TablePage.entryOffset(0)))
      if below >= 1 && below <= slotCount { table = below }
    }
    let index = input.index(below: 600) % TablePage.entryCount(pageByteCount: pageByteCount)
    data.store(input.number(), 4, at: offset(ofSlot: table) + TablePage.entryOffset(index))
  }

  private mutating func copyPage(_ input: inout FuzzInput) {
    guard let source = slotOffset(&input), let target = slotOffset(&input) else { return }
    let number = data.uint(4, at: target + PageHeader.numberOffset)
    data.replaceSubrange(
      target..<target + pageByteCount, with: data[source..<source + pageByteCount])
    if input.bool() { data.store(number, 4, at: target + PageHeader.numberOffset) }
  }

  /// A tree page that passes the gate, if its keys are in order, with whatever children and values.
  private mutating func buildTreePage(_ input: inout FuzzInput) {
    guard let page = slotOffset(&input) else { return }
    let level = input.index(below: 34)
    data.store(level == 0 ? 1 : 2, 1, at: page + PageHeader.kindOffset)
    data.store(UInt64(level), 1, at: page + PageHeader.levelOffset)
    data.store(UInt64(input.index(below: 5)), 2, at: page + PageHeader.treeOffset)
    var buffer = ByteBuffer(capacity: pageByteCount)
    buffer.append(Array(data[page..<page + pageByteCount]))
    let prefix = input.take(input.index(below: 4))
    Bytes.with(prefix) { prefix in
      let editor = TreePageEditor(
        formatting: buffer.mutableBytes, prefix: CellKey(prefix), prefixByteCount: prefix.count)
      let cellCount = input.index(below: 40)
      for index in 0..<cellCount {
        let isFirstOfBranch = level > 0 && index == 0
        // Ascending by itself; the input decides about the rest of the key.
        let key = [UInt8(index)] + input.take(input.index(below: 6))
        let value = input.number()
        let isLong = input.bool()
        Bytes.with(isFirstOfBranch ? [] : prefix.array() + key) { key in
          Bytes.with([UInt8](repeating: 7, count: Int(value % 60))) { bytes in
            let payload: CellPayload =
              level > 0
              ? .child(PageNumber(UInt32(truncatingIfNeeded: value)))
              : isLong
                ? .overflow(
                  byteCount: Int(input.number() & 0x3FF_FFFF),
                  first: PageNumber(UInt32(truncatingIfNeeded: value)))
                : .value(bytes)
            editor.put(Cell(CellKey(key), payload), at: index)
          }
        }
      }
    }
    data.replaceSubrange(page..<page + pageByteCount, with: buffer.bytes.array())
  }

  private mutating func buildOverflowPage(_ input: inout FuzzInput) {
    guard let page = slotOffset(&input) else { return }
    data.store(3, 1, at: page + PageHeader.kindOffset)
    data.store(0, 1, at: page + PageHeader.levelOffset)
    let isFull = input.bool()
    let capacity = UInt64(OverflowPage.capacity(pageSize: pageByteCount))
    data.store(isFull ? capacity : input.number(), 2, at: page + 22)
    data.store(input.number(), 4, at: page + 24)
    data.store(0, 4, at: page + 28)
  }
}
