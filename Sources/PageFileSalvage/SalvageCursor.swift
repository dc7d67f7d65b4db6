package import PageFile

/// A cursor over the cells of one tree of a damaged store, in key order.
package final class SalvageCursor {
  private let pages: SalvagedPages
  private let leaves: LeafIndex
  private var leafIndex = -1
  private var leaf: SalvagedPage?
  private var cellIndex = 0
  private var keyBuffer = ByteBuffer(capacity: 512)
  private var valueBuffer = ByteBuffer(capacity: 4096)

  /// True if the cell's page is certainly the last version, so that nothing in it was deleted
  /// since.
  package private(set) var isCertain = false
  /// The LSN of the last change to the cell's page.
  package private(set) var lsn = LSN.zero
  /// The page that holds the cell.
  package private(set) var page = PageNumber.none
  /// The reason why the cell's value cannot be read, if part of it is lost.
  package private(set) var lostReason: String?

  init(_ pages: SalvagedPages, _ leaves: LeafIndex) {
    self.pages = pages
    self.leaves = leaves
  }

  /// The number of leaves of the tree.
  package var leafCount: Int { leaves.leaves.count }
  /// The number of leaves that lie before the cell.
  package var passedLeafCount: Int { min(max(leafIndex, 0), leafCount) }

  /// The key.
  ///
  /// Valid until the next step.
  package var key: Bytes { keyBuffer.bytes }
  /// The value, empty if it is lost.
  ///
  /// Valid until the next step.
  package var value: Bytes { valueBuffer.bytes }

  /// Positions the cursor so that the next step goes to the first cell at or after a key.
  package func seek(_ key: Bytes) {
    leafIndex = leaves.index(before: key) ?? 0
    leaf = leafIndex < leaves.leaves.count ? pages.page(leaves.leaves[leafIndex].number) : nil
    cellIndex = (leaf.map { TreePage($0.bytes).search(key).index } ?? 0) - 1
  }

  /// Moves to the next cell, or to the first one at the beginning.
  ///
  /// Returns false if no cell is left.
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
  /// Appends a leaf cell's value.
  ///
  /// Returns the reason, and leaves the buffer empty, if a part of the value is lost.
  ///
  /// All links of a chain are written by the commit that stores the value, and never change. So a
  /// link with another LSN belongs to some other value, and no link is younger than the leaf. A
  /// page that was read for the value of one key is not read again for the value of another; the
  /// same key may lie in two versions of a leaf.
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
        return "page \(number) of the value is lost"
      }
      let link = OverflowPage(found.bytes)
      guard lsn ?? found.lsn == found.lsn, found.lsn <= leaf.lsn,
        link.content.count <= chain.byteCount - buffer.count
      else {
        buffer.removeAll()
        return "page \(number) does not match the value"
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
  /// Returns a number that identifies a cell's value, the same for a key in any version of the
  /// leaf.
  fileprivate func chainOwner(_ index: Int) -> UInt64 {
    var key = ByteBuffer(capacity: Cell.maximumKeyByteCount)
    self.key(index).append(dropping: 0, to: &key)
    return Checksum.of(key.bytes, seed: Checksum.seed(UInt64(tree.rawValue)))
  }
}
