/// How one live value differs from the one before, as a list on a screen takes it.
///
/// What goes is named by its index before, what comes and what is different by its index now, and what
/// moves by both. `apply` shows in which order they go together.
public struct LiveDifferences: Sendable, Hashable {
  /// What is at another place among the others than before.
  public struct Move: Sendable, Hashable {
    /// Its index before.
    public let from: Int
    /// Its index now.
    public let to: Int
  }

  /// The indices before of what is gone, ascending.
  public private(set) var removed: [Int] = []
  /// The indices now of what has come, ascending.
  public private(set) var inserted: [Int] = []
  /// What is at another place among the others, in the order of `to`.
  public private(set) var moved: [Move] = []
  /// The indices now of what was there before and looks different, ascending; some of it may have
  /// moved as well.
  public private(set) var changed: [Int] = []
  /// Whether `older` is another than before.
  public internal(set) var isOlderChanged = false
  /// Whether `newer` is another than before.
  public internal(set) var isNewerChanged = false

  /// Whether nothing is different.
  public var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty && !isOlderChanged
      && !isNewerChanged
  }

  /// Makes of the rows of the value before those of this one.
  ///
  /// - Parameters:
  ///   - rows: One for each element of the value before.
  ///   - row: Makes the row of what has come or looks different, by its index now.
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
  /// Compares two lists that have the order of places, and in each of which every place and every name
  /// is there once.
  ///
  /// Costs a walk along both; names are made and compared only of what is not at its old place.
  ///
  /// - Parameters:
  ///   - order: Below 0 where an old place lies before a new one, 0 where they are one.
  ///   - isSame: Whether what is at one place in both has the same name; nil if not, else whether it
  ///     looks the same.
  ///   - compare: Whether what has moved looks the same, by its old and new index.
  init<Name: Hashable>(
    _ oldCount: Int, _ newCount: Int, order: (Int, Int) -> Int,
    isSame: (Int, Int) -> Bool?, oldName: (Int) -> Name, newName: (Int) -> Name,
    compare: (Int, Int) -> Bool
  ) {
    var (old, new) = (0, 0)
    /// How many that have stayed lie before each index in `removed` and `inserted`.
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

  /// Finds what was removed from one place and inserted at another: it has moved, or has only another
  /// place between the same neighbours.
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
    moved.sort { $0.to < $1.to }
    changed.sort()
  }
}
