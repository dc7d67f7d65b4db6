/// An editor that changes the cells of a branch or leaf page in place.
///
/// A commit logs the bytes in which a page differs from its previous version, so each edit touches
/// as few bytes as possible. An insertion touches the header, the pointers after it and the new
/// cell; nothing else moves. Bytes that a cell gives up are zeroed at once, because erased content
/// must not survive in a page's slack.
///
///  1. After each call the page keeps the rules of `TreePage.ruleBroken`, except that it may be
///     empty.
///  2. The cell area starts at the lowest cell, so freed bytes always lie after some cell.
package struct TreePageEditor {
  package let bytes: MutableBytes
  /// Records each change; nil for a page that is compared as a whole.
  private let edited: EditedRanges?

  /// Creates an editor for a page that already holds cells.
  package init(_ bytes: MutableBytes, noting edited: EditedRanges? = nil) {
    self.bytes = bytes
    self.edited = edited
  }

  /// Formats a new page as an empty tree page.
  ///
  /// Its keys share the first `prefixByteCount` bytes of `key`.
  package init(formatting bytes: MutableBytes, prefix key: CellKey, prefixByteCount: Int) {
    self.init(bytes)
    format(prefix: key, prefixByteCount: prefixByteCount)
  }

  package var page: TreePage { TreePage(bytes.readOnly) }

  // MARK: Room

  /// Returns the number of bytes that must stay free for a page to be rewritten, either to collect
  /// its freed bytes or to change its prefix.
  ///
  /// Otherwise it is split. Without this limit a nearly full page whose values keep changing their
  /// length would be rewritten again and again. An inserted cell counts for half of its size: large
  /// cells are few and cause few rewrites.
  package static func spareByteCount(capacity: Int) -> Int { capacity / 16 }

  /// Returns the number of free bytes after a rewrite with a prefix of that many bytes.
  ///
  /// Suffixes that grow past 127 bytes need one more byte for their length. Those are not counted:
  /// they are less than a hundredth of a page, and the spare bytes cover them too.
  private func roomAfterRewrite(prefixByteCount: Int) -> Int {
    let page = page
    let longer = prefixByteCount - page.prefixByteCount
    let keyCount = max(0, page.cellCount - page.firstKeyIndex)
    return page.gapByteCount + page.freedByteCount + (keyCount - 1) * longer
  }

  /// Returns the length of the prefix that all keys share once `key` is among them.
  private func prefixByteCount(with key: CellKey) -> Int {
    let page = page
    guard page.cellCount > page.firstKeyIndex else { return key.byteCount }
    let shared = key.sharedByteCount(with: page.key(page.firstKeyIndex))
    return min(shared, key.sharedByteCount(with: page.key(page.cellCount - 1)))
  }

  private func sharesPrefix(_ key: CellKey) -> Bool {
    key.sharedByteCount(with: CellKey(page.prefix)) == page.prefixByteCount
  }

  // MARK: Edits

  /// Inserts a cell at `index`, rewriting the page if that makes room.
  ///
  /// Returns false and changes nothing if the page has to be split.
  package func insert(_ cell: Cell, at index: Int) -> Bool {
    let page = page
    if sharesPrefix(cell.key) {
      let byteCount = cell.byteCount(dropping: page.prefixByteCount)
      if byteCount + Cell.pointerByteCount <= page.gapByteCount {
        put(cell, byteCount, at: index)
        return true
      }
    }
    let prefixByteCount = prefixByteCount(with: cell.key)
    let needed = cell.byteCount(dropping: prefixByteCount) + Cell.pointerByteCount
    let room = roomAfterRewrite(prefixByteCount: prefixByteCount)
    let spare = TreePageEditor.spareByteCount(capacity: page.capacity)
    guard room - needed >= max(0, spare - needed / 2) else { return false }
    var list = CellList(copying: page)
    list.insert(cell, at: index)
    guard room - needed >= spare || list.fits(0..<list.count) else { return false }
    list.write(0..<list.count, to: self)
    return true
  }

  /// Inserts a cell that fits into the gap and whose key begins with the prefix.
  ///
  /// The caller has checked both.
  package func put(_ cell: Cell, at index: Int) {
    put(cell, cell.byteCount(dropping: page.prefixByteCount), at: index)
  }

  private func put(_ cell: Cell, _ byteCount: Int, at index: Int) {
    let page = page
    let count = page.cellCount
    precondition(index <= count, "cell index: out of bounds")
    let offset = page.cellAreaStart - byteCount
    cell.write(dropping: page.prefixByteCount, to: bytes, at: offset)
    let pointer = pointerOffset(index)
    let moved = (count - index) * Cell.pointerByteCount
    bytes.move(from: pointer, to: pointer + Cell.pointerByteCount, byteCount: moved)
    bytes.store(UInt16(offset), at: pointer)
    setCellCount(count + 1)
    setCellAreaStart(offset)
    edited?.add(offset, byteCount)
    edited?.add(pointer, moved + Cell.pointerByteCount)
    noteHeader()
  }

  /// Removes a cell and zeroes its bytes.
  package func remove(at index: Int) {
    let page = page
    let count = page.cellCount
    let offset = page.cellOffset(index)
    let byteCount = page.cellByteCount(index)
    let isLowest = offset == page.cellAreaStart
    let pointer = pointerOffset(index)
    let last = pointerOffset(count - 1)
    bytes.zero(offset, byteCount)
    bytes.move(
      from: pointer + Cell.pointerByteCount, to: pointer, byteCount: last - pointer)
    bytes.zero(last, Cell.pointerByteCount)
    setCellCount(count - 1)
    edited?.add(offset, byteCount)
    edited?.add(pointer, last + Cell.pointerByteCount - pointer)
    noteHeader()
    setFreedByteCount(page.freedByteCount + byteCount)
    if isLowest { raiseCellArea() }
  }

  /// Replaces a leaf cell's payload in place.
  ///
  /// Returns false and changes nothing if the cell would grow, or if it would shrink at the low end
  /// of the cell area: there removing and inserting it again leaves no hole.
  package func replacePayload(at index: Int, with payload: CellPayload) -> Bool {
    let page = page
    let old = page.payload(index)
    let offset = page.payloadOffset(index)
    let spare = old.count - payload.byteCount
    guard spare == 0 || spare > 0 && page.cellOffset(index) != page.cellAreaStart else {
      return false
    }
    payload.write(to: bytes, at: offset)
    bytes.zero(offset + payload.byteCount, spare)
    edited?.add(offset, old.count)
    if spare > 0 {
      setFreedByteCount(page.freedByteCount + spare)
      noteHeader()
    }
    return true
  }

  /// Gives a leaf cell another key of the same length that begins with the prefix, and moves it
  /// before the cell that is now at index `target`.
  package func rekey(at index: Int, to key: CellKey, before target: Int) {
    let page = page
    let suffix = page.suffixRange(index)
    precondition(key.byteCount == page.prefixByteCount + suffix.byteCount, "key: length changed")
    let offset = UInt16(page.cellOffset(index))
    key.write(dropping: page.prefixByteCount, to: bytes, at: suffix.offset)
    // The pointers between the two places move by one.
    let place = target > index ? target - 1 : target
    let (from, to) = target > index ? (index + 1, index) : (target, target + 1)
    let byteCount = abs(place - index) * Cell.pointerByteCount
    bytes.move(from: pointerOffset(from), to: pointerOffset(to), byteCount: byteCount)
    bytes.store(offset, at: pointerOffset(place))
    edited?.add(suffix.offset, suffix.byteCount)
    edited?.add(pointerOffset(min(index, place)), byteCount + Cell.pointerByteCount)
  }

  /// Sets the child of a branch cell.
  package func setChild(at index: Int, to child: PageNumber) {
    let offset = page.payloadOffset(index)
    bytes.store(child.rawValue, at: offset)
    edited?.add(offset, 4)
  }

  /// Empties the page, zeroing all cells, and sets the first bytes of `key` as its prefix.
  package func format(prefix key: CellKey, prefixByteCount: Int) {
    bytes.zero(TreePage.pointersOffset, bytes.count - TreePage.pointersOffset)
    var prefix = ByteBuffer(capacity: prefixByteCount)
    key.append(first: prefixByteCount, to: &prefix)
    bytes.copy(prefix.bytes, to: bytes.count - prefixByteCount)
    setCellCount(0)
    setCellAreaStart(bytes.count - prefixByteCount)
    setFreedByteCount(0)
    bytes.store(UInt16(prefixByteCount), at: PageHeader.prefixByteCountOffset)
    edited?.addAll(pageByteCount: bytes.count)
  }

  /// Moves the start of the cell area up to the lowest cell, past freed bytes.
  private func raiseCellArea() {
    let page = page
    var lowest = page.cellAreaEnd
    if page.freedByteCount < lowest - page.cellAreaStart {
      for index in 0..<page.cellCount { lowest = min(lowest, page.cellOffset(index)) }
    }
    setFreedByteCount(page.freedByteCount - (lowest - page.cellAreaStart))
    setCellAreaStart(lowest)
  }

  // MARK: Header

  private func noteHeader() {
    let start = PageHeader.cellCountOffset
    edited?.add(start, PageHeader.prefixByteCountOffset - start)
  }
  private func pointerOffset(_ index: Int) -> Int {
    TreePage.pointersOffset + index * Cell.pointerByteCount
  }
  private func setCellCount(_ count: Int) {
    bytes.store(UInt16(count), at: PageHeader.cellCountOffset)
  }
  private func setCellAreaStart(_ offset: Int) {
    bytes.store(UInt16(offset), at: PageHeader.cellAreaStartOffset)
  }
  private func setFreedByteCount(_ byteCount: Int) {
    bytes.store(UInt16(byteCount), at: PageHeader.freedByteCountOffset)
  }
}
