/// The cells of one tree of a damaged store, in the order of their keys.
package final class SalvageCursor {
  private let pages: SalvagedPages
  private let leaves: LeafIndex
  private var leafIndex = -1
  private var leaf: SalvagedPage?
  private var cellIndex = 0
  private var keyBuffer = ByteBuffer(capacity: 512)
  private var valueBuffer = ByteBuffer(capacity: 4096)

  /// Whether the cell's page is surely the last version, so that nothing in it was deleted since.
  package private(set) var isCertain = false
  /// When the cell's page was changed last.
  package private(set) var lsn = LSN.zero
  /// Which page the cell is in.
  package private(set) var page = PageNumber.none
  /// What keeps the cell's value from being read, when part of it is lost.
  package private(set) var lostReason: String?

  init(_ pages: SalvagedPages, _ leaves: LeafIndex) {
    self.pages = pages
    self.leaves = leaves
  }

  /// The key.
  ///
  /// Valid until the next step.
  package var key: Bytes { keyBuffer.bytes }
  /// The value, empty where it is lost.
  ///
  /// Valid until the next step.
  package var value: Bytes { valueBuffer.bytes }

  /// Makes the next step go to the first cell that does not lie before a key.
  package func seek(_ key: Bytes) {
    leafIndex = leaves.index(before: key) ?? 0
    leaf = leafIndex < leaves.leaves.count ? pages.page(leaves.leaves[leafIndex].number) : nil
    cellIndex = (leaf.map { TreePage($0.bytes).search(key).index } ?? 0) - 1
  }

  /// Goes to the next cell, or first to the first one.
  ///
  /// False: there is none.
  package func next() -> Bool {
    cellIndex += 1
    while leaf.map({ cellIndex >= TreePage($0.bytes).cellCount }) ?? true {
      leafIndex += 1
      guard leafIndex < leaves.leaves.count else { return false }
      cellIndex = 0
      leaf = pages.page(leaves.leaves[leafIndex].number)
    }
    guard let leaf else { return false }
    let view = TreePage(leaf.bytes)
    (isCertain, lsn, page) = (leaves.leaves[leafIndex].isCertain, leaf.lsn, view.number)
    keyBuffer.removeAll()
    view.key(cellIndex).append(dropping: 0, to: &keyBuffer)
    valueBuffer.removeAll()
    lostReason = pages.append(valueOf: cellIndex, in: leaf, to: &valueBuffer)
    return true
  }
}

extension SalvagedPages {
  /// Appends a leaf cell's value; says what is in the way when a part of it is lost, and leaves the
  /// buffer empty then.
  ///
  /// The links of a chain are all made in the commit that stores the value, and never changed. So a
  /// link with another LSN is of some other value, and none is younger than the leaf. A page that was
  /// read for the value of one key is not read for that of another; the same key may lie in two versions
  /// of a leaf.
  func append(valueOf index: Int, in leaf: SalvagedPage, to buffer: inout ByteBuffer) -> String? {
    let view = TreePage(leaf.bytes)
    if let value = view.inlineValue(index) {
      buffer.append(value)
      return nil
    }
    guard let chain = view.overflow(index) else { return nil }
    let owner = view.chainOwner(index)
    var number = chain.first
    var lsn: LSN?
    while buffer.count < chain.byteCount {
      guard entry(number)?.page.kind == .overflow, let found = page(number) else {
        buffer.removeAll()
        return "page \(number) of its value is lost"
      }
      let link = OverflowPage(found.bytes)
      guard lsn ?? found.lsn == found.lsn, found.lsn <= leaf.lsn,
        link.content.count <= chain.byteCount - buffer.count
      else {
        buffer.removeAll()
        return "page \(number) is not the one of its value"
      }
      guard claim(number, for: owner) else {
        buffer.removeAll()
        return "page \(number) is part of another value"
      }
      lsn = found.lsn
      buffer.append(link.content)
      number = link.next
    }
    return nil
  }
}

extension TreePage {
  /// A number for the value of a cell, the same for the same key in any version of the leaf.
  fileprivate func chainOwner(_ index: Int) -> UInt64 {
    var key = ByteBuffer(capacity: Cell.keyByteCountMax)
    self.key(index).append(dropping: 0, to: &key)
    return Checksum.of(key.bytes, seed: Checksum.seed(UInt64(tree.rawValue)))
  }
}
