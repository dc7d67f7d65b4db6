import PageFile

/// The differences between two successive live values, in the form that a list on screen needs.
///
/// Removed elements are given by their former index, inserted and changed elements by their current
/// index, and moved elements by both. `apply` shows the order in which they are combined.
public struct LiveDifferences: Sendable, Equatable {
  /// The move of an element to another place among the others.
  public struct Move: Sendable, Equatable {
    /// The former index.
    public let from: Int
    /// The current index.
    public let to: Int
  }

  /// The former indices of removed elements, ascending.
  public private(set) var removed: [Int] = []
  /// The current indices of inserted elements, ascending.
  public private(set) var inserted: [Int] = []
  /// The elements at another place among the others, in the order of `to`.
  public private(set) var moved: [Move] = []
  /// The current indices of elements that were there before and look different, ascending; some may
  /// have moved too.
  public private(set) var changed: [Int] = []
  /// True if `older` changed.
  public internal(set) var isOlderChanged = false
  /// True if `newer` changed.
  public internal(set) var isNewerChanged = false

  /// Creates differences that say that nothing differs.
  public init() {}

  /// True if nothing differs.
  public var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty && !isOlderChanged
      && !isNewerChanged
  }

  /// Updates rows of the previous value to those of this one.
  ///
  /// - Parameters:
  ///   - rows: One row for each element of the previous value.
  ///   - row: Makes the row of an inserted or changed element from its current index.
  public func apply<Row, E: Error>(
    to rows: inout [Row], _ row: (Int) throws(E) -> Row
  ) throws(E) {
    let count = rows.count - removed.count + inserted.count
    var isTaken = [Bool](repeating: false, count: rows.count)
    for index in removed { isTaken[index] = true }
    for move in moved { isTaken[move.from] = true }
    var result: [Row] = []
    result.reserveCapacity(count)
    var (insertions, moves, changes) = (inserted[...], moved[...], changed[...])
    var next = 0
    for index in 0..<count {
      let isChanged = changes.first == index
      if isChanged { changes.removeFirst() }
      if insertions.first == index {
        insertions.removeFirst()
        result.append(try row(index))
      } else if moves.first?.to == index, let move = moves.popFirst() {
        result.append(isChanged ? try row(index) : rows[move.from])
      } else {
        while isTaken[next] { next += 1 }
        result.append(isChanged ? try row(index) : rows[next])
        next += 1
      }
    }
    rows = result
  }
}

extension LiveDifferences {
  /// Compares two lists that are sorted by place and have no duplicate places or names.
  ///
  /// Costs one walk along both lists. Names are made and compared only for elements that are not at
  /// their former place.
  ///
  /// - Parameters:
  ///   - order: Negative if an old place precedes a new one, 0 if they are the same.
  ///   - isSame: Compares the elements at one place in both: nil if their names differ, else true
  ///     if they look the same.
  ///   - compare: Returns true if a moved element looks the same, given its old and new index.
  init<Name: Hashable>(
    _ oldCount: Int, _ newCount: Int, order: (Int, Int) -> Int,
    isSame: (Int, Int) -> Bool?, oldName: (Int) -> Name, newName: (Int) -> Name,
    compare: (Int, Int) -> Bool
  ) {
    var (old, new) = (0, 0)
    /// The number of elements in place before each index in `removed` and `inserted`.
    var (stayedBeforeOld, stayedBeforeNew): ([Int], [Int]) = ([], [])
    var stayedCount = 0
    while old < oldCount || new < newCount {
      let relation = old == oldCount ? 1 : new == newCount ? -1 : order(old, new)
      if relation == 0, let isSame = isSame(old, new) {
        if !isSame { changed.append(new) }
        stayedCount += 1
        old += 1
        new += 1
        continue
      }
      if relation <= 0 {
        removed.append(old)
        stayedBeforeOld.append(stayedCount)
        old += 1
      }
      if relation >= 0 {
        inserted.append(new)
        stayedBeforeNew.append(stayedCount)
        new += 1
      }
    }
    guard !removed.isEmpty, !inserted.isEmpty else { return }
    join(stayedBeforeOld, stayedBeforeNew, oldName: oldName, newName: newName, compare: compare)
  }

  /// Joins each removal with the insertion of the same element.
  ///
  /// The element has moved, or merely has another place between the same neighbours.
  private mutating func join<Name: Hashable>(
    _ stayedBeforeOld: [Int], _ stayedBeforeNew: [Int],
    oldName: (Int) -> Name, newName: (Int) -> Name, compare: (Int, Int) -> Bool
  ) {
    var news: [Name: Int] = [:]
    for (slot, index) in inserted.enumerated() { news[newName(index)] = slot }
    var isGone = [Bool](repeating: true, count: removed.count)
    var isNew = [Bool](repeating: true, count: inserted.count)
    var last = -1
    for (slot, from) in removed.enumerated() {
      guard let newSlot = news[oldName(from)] else { continue }
      let to = inserted[newSlot]
      (isGone[slot], isNew[newSlot]) = (false, false)
      if stayedBeforeOld[slot] == stayedBeforeNew[newSlot], to > last {
        last = to
      } else {
        moved.append(Move(from: from, to: to))
      }
      if !compare(from, to) { changed.append(to) }
    }
    removed = zip(removed, isGone).filter(\.1).map(\.0)
    inserted = zip(inserted, isNew).filter(\.1).map(\.0)
    moved = moved.inOrder { UInt64($0.to) }
    changed = changed.inOrder { UInt64($0) }
  }
}
