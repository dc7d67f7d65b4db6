/// Moves of cells: a rewritten page has most cells of its previous version, at other places.
///
/// Collecting freed bytes, splitting a page, and sharing cells with a neighbour lay all cells of a
/// page out anew. Without moves each of them would log the page.
extension PatchMaker {
  /// Finds the cells that lie elsewhere than in the previous version of a page, and applies their
  /// moves to a copy of that version.
  ///
  /// Returns the number of moves; 0 if one of the two is not a tree page, or none is worth it. The
  /// moves ascend by key; cells that stay neighbours move together.
  ///
  /// Costs a walk along the keys of both versions.
  mutating func moveCells(from base: Bytes, to page: Bytes) -> Int {
    let kind = page[PageHeader.kindOffset]
    guard kind == base[PageHeader.kindOffset],
      kind == PageKind.leaf.rawValue || kind == PageKind.branch.rawValue
    else { return 0 }
    moves.removeAll()
    moved.removeAll()
    moved.append(base)
    let (old, new) = (TreePage(base), TreePage(page))
    var count = 0
    var run = PagePatch.Move(source: 0, target: 0, byteCount: 0)
    var (from, to) = (old.firstKeyIndex, new.firstKeyIndex)
    while from < old.cellCount && to < new.cellCount {
      let order = old.key(from).compare(to: new.key(to))
      if order == 0, let move = Self.move(of: PlacedCell(old, from), to: PlacedCell(new, to)) {
        if !run.join(move) {
          count += append(run, base)
          run = move
        }
      }
      if order <= 0 { from += 1 }
      if order >= 0 { to += 1 }
    }
    return count + append(run, base)
  }

  /// Returns the move of a cell with the same key in both versions; nil if it stays, or has another
  /// payload.
  ///
  /// If the pages have prefixes of different lengths, the ends of both cells are alike.
  private static func move(of old: PlacedCell, to new: PlacedCell) -> PagePatch.Move? {
    guard old.end != new.end, old.payload.compare(to: new.payload) == 0 else { return nil }
    let byteCount =
      old.suffixByteCount == new.suffixByteCount
      ? new.end - new.offset
      : new.payload.count + min(old.suffixByteCount, new.suffixByteCount)
    return PagePatch.Move(
      source: old.end - byteCount, target: new.end - byteCount, byteCount: byteCount)
  }

  /// Appends a move that is worth it; returns the number of those, 0 or 1.
  private mutating func append(_ move: PagePatch.Move, _ base: Bytes) -> Int {
    guard move.byteCount >= Self.movedByteCountMin else { return 0 }
    move.append(to: &moves)
    moved.mutableBytes.copy(base.slice(move.source, move.byteCount), to: move.target)
    return 1
  }
}

/// A cell, and its place in a page.
private struct PlacedCell {
  let offset: Int
  let end: Int
  let suffixByteCount: Int
  let payload: Bytes

  init(_ page: TreePage, _ index: Int) {
    let suffix = page.suffixRange(index)
    offset = page.cellOffset(index)
    suffixByteCount = suffix.byteCount
    let start = suffix.offset + suffix.byteCount
    payload = page.payload(at: start)
    end = start + payload.count
  }
}

extension PagePatch.Move {
  /// Takes in the move of the next cell if both lie side by side at both places; returns false if
  /// they do not.
  fileprivate mutating func join(_ next: PagePatch.Move) -> Bool {
    guard source - target == next.source - next.target else { return false }
    if source + byteCount == next.source {
      byteCount += next.byteCount
      return true
    }
    guard next.source + next.byteCount == source else { return false }
    self = PagePatch.Move(
      source: next.source, target: next.target, byteCount: byteCount + next.byteCount)
    return true
  }
}
