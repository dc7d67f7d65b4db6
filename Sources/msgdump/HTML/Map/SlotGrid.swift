package import PageFile

/// The slots of a data file in so few cells that a picture of any store stays small.
///
/// A cell stands for the same number of slots, one after the other. Its kind is the most common of
/// them. A single unreadable page makes its cell unreadable, since nothing else shows where it is.
package struct SlotGrid {
  /// The most cells of a map.
  package static let maximumCellCount = 4000

  /// One cell.
  package struct Cell: Sendable, Hashable {
    /// The first slot and the last one.
    package var slots: ClosedRange<Int>
    package var kind: SlotKind
    /// The number of slots that have the fill below.
    package var filledCount: Int
    /// The sum of the used shares of the pages in the slots.
    package var fillSum: Double
    package var freeCount: Int
    package var unreadableCount: Int

    /// The mean fill of the pages, or nil without a page that has one.
    package var meanFill: Double? {
      filledCount == 0 ? nil : fillSum / Double(filledCount)
    }

    /// The step of the mean fill, 0 to 3; nil for a cell whose kind has no fill.
    package var shade: Int? {
      guard kind.hasFill, let meanFill else { return nil }
      return max(0, min(3, Int(meanFill * 4)))
    }
  }

  /// The number of slots for which a cell stands; the last one may stand for fewer.
  package let slotsPerCell: Int
  package private(set) var cells: [Cell] = []

  /// Creates the cells of a map.
  ///
  /// - Parameters:
  ///   - slotCount: The number of slots of the file.
  ///   - states: The states of the slots in use, in the order of slots.
  package init(slotCount: Int, _ states: [SlotState]) {
    self.init(
      slotCount: slotCount, states,
      slotsPerCell: Self.slotsPerCell(slotCount, maximumCellCount: Self.maximumCellCount))
  }

  /// Creates cells of a given size.
  package init(slotCount: Int, _ states: [SlotState], slotsPerCell: Int) {
    self.slotsPerCell = max(1, slotsPerCell)
    var next = states.startIndex
    var start = 1
    while start <= slotCount {
      let end = min(start + self.slotsPerCell - 1, slotCount)
      var tally = Tally()
      var last = start - 1
      while next < states.endIndex, Int(states[next].slot) <= end {
        // A damaged table may name a slot twice.
        if Int(states[next].slot) > last {
          last = Int(states[next].slot)
          tally.add(states[next])
        }
        next += 1
      }
      cells.append(tally.cell(start...end))
      start = end + 1
    }
  }

  /// Returns a round number of slots for a cell: 1, 2, 5, 10, and so on.
  package static func slotsPerCell(_ slotCount: Int, maximumCellCount: Int) -> Int {
    var unit = 1
    while true {
      for factor in [1, 2, 5] {
        let size = unit * factor
        if (slotCount + size - 1) / size <= maximumCellCount { return size }
      }
      unit *= 10
    }
  }

  private struct Tally {
    private var counts = [Int](repeating: 0, count: SlotKind.allCases.count)
    private var fillSum = 0.0
    private var filledCount = 0

    mutating func add(_ state: SlotState) {
      let kind = SlotKind(state)
      counts[kind.rawValue] += 1
      guard kind.hasFill else { return }
      fillSum += state.fill
      filledCount += 1
    }

    func cell(_ slots: ClosedRange<Int>) -> Cell {
      var counts = counts
      counts[SlotKind.free.rawValue] = slots.count - counts.reduce(0, +)
      let unreadableCount = counts[SlotKind.unreadable.rawValue]
      let kind =
        unreadableCount > 0
        ? SlotKind.unreadable
        : SlotKind.allCases.max { counts[$0.rawValue] < counts[$1.rawValue] } ?? .free
      return Cell(
        slots: slots, kind: kind, filledCount: filledCount, fillSum: fillSum,
        freeCount: counts[SlotKind.free.rawValue], unreadableCount: unreadableCount)
    }
  }
}

extension SlotGrid {
  /// Neighbouring cells of a row that look the same.
  package struct Run: Sendable, Hashable {
    package var row: Int
    package var column: Int
    package var cellCount: Int
    /// All cells of the run as one.
    package var cell: Cell
  }

  /// Returns the cells row by row, with neighbours that look the same put together.
  package func runs(columnCount: Int) -> [Run] {
    var runs: [Run] = []
    for (index, cell) in cells.enumerated() {
      let (row, column) = index.quotientAndRemainder(dividingBy: max(1, columnCount))
      if column > 0, let last = runs.last, last.cell.kind == cell.kind,
        last.cell.shade == cell.shade
      {
        runs[runs.count - 1].cellCount += 1
        runs[runs.count - 1].cell.append(cell)
      } else {
        runs.append(Run(row: row, column: column, cellCount: 1, cell: cell))
      }
    }
    return runs
  }
}

extension SlotGrid.Cell {
  fileprivate mutating func append(_ cell: SlotGrid.Cell) {
    slots = slots.lowerBound...cell.slots.upperBound
    filledCount += cell.filledCount
    fillSum += cell.fillSum
    freeCount += cell.freeCount
    unreadableCount += cell.unreadableCount
  }
}

/// The free slots of a file: how many, and in which runs.
package struct FreeSlots: Sendable, Hashable {
  package private(set) var count = 0
  package private(set) var runCount = 0
  /// The longest run, the first of several that are as long.
  package private(set) var longestRun: ClosedRange<Int>?

  /// Counts the slots without a state.
  ///
  /// - Parameter states: The states of the slots in use, in the order of slots.
  package init(slotCount: Int, _ states: [SlotState]) {
    var next = 1
    for state in states where Int(state.slot) >= next && Int(state.slot) <= slotCount {
      add(next..<Int(state.slot))
      next = Int(state.slot) + 1
    }
    if next <= slotCount { add(next..<slotCount + 1) }
  }

  private mutating func add(_ run: Range<Int>) {
    guard !run.isEmpty else { return }
    count += run.count
    runCount += 1
    if run.count > longestRun?.count ?? 0 { longestRun = run.lowerBound...run.upperBound - 1 }
  }
}
