/// The use of every slot of a data file, and figures of each tree, as one walk finds them.

/// The use of one slot, or of a page that only the log has.
package struct SlotState: Sendable, Equatable {
  /// The kinds of use; a slot that has no state is free.
  package enum Use: UInt8, Sendable, CaseIterable {
    /// A leaf page of a tree.
    case leaf
    /// A branch page of a tree.
    case branch
    /// A page of an overflow chain.
    case overflow
    /// A page of the page table.
    case table
    /// A page that the log has freed; its slot becomes free at a checkpoint.
    case freed
    /// A page whose bytes prove damage.
    case unreadable
    /// A readable page that no tree leads to.
    case unreached
  }

  private static let noTree: UInt8 = 0xFF

  /// The slot number; 0 for a page that only the log has.
  package internal(set) var slot: UInt32
  package internal(set) var use: Use
  private var treeByte = noTree
  private var fillByte: UInt8 = 0

  /// Creates a state.
  ///
  /// - Parameter fill: The used share of the page, 0 to 1; kept to one part in 255.
  package init(slot: UInt32, use: Use, tree: Int? = nil, fill: Double = 0) {
    self.slot = slot
    self.use = use
    self.tree = tree
    self.fill = fill
  }

  /// The tree of the page, if it is known.
  package var tree: Int? {
    get { treeByte == Self.noTree ? nil : Int(treeByte) }
    set { treeByte = newValue.flatMap { UInt8(exactly: $0) } ?? Self.noTree }
  }

  /// The used share of the page, 0 to 1.
  package var fill: Double {
    get { Double(fillByte) / 255 }
    set { fillByte = UInt8((max(0, min(1, newValue)) * 255).rounded()) }
  }
}

/// The pages of one tree, counted.
package struct TreeLayout: Sendable {
  /// The number of equal parts of the range of fills.
  package static let fillPartCount = 10

  package internal(set) var report: TreeReport
  package internal(set) var leafCount = 0
  package internal(set) var branchCount = 0
  package internal(set) var overflowCount = 0
  package internal(set) var unreadableCount = 0
  /// The sum of the used shares of all readable pages.
  package internal(set) var fillSum = 0.0
  /// The number of readable pages by fill: below a tenth, below two tenths, and so on.
  package internal(set) var fillCounts = [Int](repeating: 0, count: fillPartCount)

  /// The mean fill of the readable pages, or nil without such a page.
  package var meanFill: Double? {
    let count = leafCount + branchCount + overflowCount
    return count == 0 ? nil : fillSum / Double(count)
  }

  mutating func add(_ use: SlotState.Use, fill: Double) {
    report.pageCount += 1
    switch use {
    case .leaf: leafCount += 1
    case .branch: branchCount += 1
    case .overflow: overflowCount += 1
    case .unreadable, .table, .freed, .unreached:
      unreadableCount += 1
      return
    }
    fillSum += fill
    fillCounts[max(0, min(Self.fillPartCount - 1, Int(fill * Double(Self.fillPartCount))))] += 1
  }
}

/// The use of all slots of a data file.
package struct SlotLayout: Sendable {
  /// The figures of the file as a whole, as `Inspector.file` has them.
  package var file: FileReport
  /// The state of each slot in use, in the order of slots.
  ///
  /// Slots without a state are free. If a page of the table cannot be read, some of them are not.
  package var slots: [SlotState]
  /// The pages that have no slot: those that only the log has.
  package internal(set) var logged: [SlotState]
  /// The trees that have a root.
  package internal(set) var trees: [TreeLayout]
  /// The number of pages of the page table that cannot be read; what they name is unknown.
  package internal(set) var unreadableTableCount: Int
}
