import MsgStore
import MsgStoreTools
import PageFile
import Testing
import msgdump

/// Slots put together for a picture, from made-up states.
struct SlotGridTests {
  private func leaf(_ slot: UInt32, tree: TreeNumber = Schema.messages, fill: Double = 0.5)
    -> SlotState
  {
    SlotState(slot: slot, use: .leaf, tree: tree.rawValue, fill: fill)
  }

  @Test func aStateKeepsItsParts() {
    var state = SlotState(slot: .max, use: .branch, tree: 15, fill: 0.75)
    #expect(state.slot == .max && state.use == .branch && state.tree == 15)
    #expect(abs(state.fill - 0.75) < 0.005 && MemoryLayout<SlotState>.size <= 8)
    state.tree = nil
    state.fill = 7
    #expect(state.tree == nil && state.fill == 1)
    state.tree = 300
    #expect(state.tree == nil)
  }

  @Test func sizesOfCellsAreRound() {
    for (slotCount, size) in [
      (0, 1), (1, 1), (4000, 1), (4001, 2), (8001, 5), (20_001, 10), (1_000_000, 500),
      (Int(UInt32.max), 2_000_000),
    ] {
      #expect(SlotGrid.slotsPerCell(slotCount, maximumCellCount: 4000) == size, "\(slotCount)")
    }
  }

  @Test func aCellHasTheMostCommonKindAndTheMeanFill() {
    let grid = SlotGrid(
      slotCount: 9,
      [
        leaf(1, fill: 1), leaf(2, fill: 0.5), leaf(3, tree: Schema.ids, fill: 0),
        leaf(4), SlotState(slot: 8, use: .unreadable), leaf(9, tree: Schema.ids),
      ], slotsPerCell: 3)
    #expect(grid.cells.map(\.kind) == [.messages, .free, .unreadable])
    #expect(grid.cells.map(\.slots) == [1...3, 4...6, 7...9])
    #expect(abs((grid.cells[0].meanFill ?? 0) - 0.5) < 0.01)
    #expect(grid.cells.map(\.freeCount) == [0, 2, 1])
    #expect(grid.cells.map(\.shade) == [2, nil, nil])
  }

  @Test func statesThatContradictEachOtherDoNoHarm() {
    let states = [leaf(2), leaf(2, tree: Schema.ids), leaf(3), leaf(99)]
    let grid = SlotGrid(slotCount: 4, states, slotsPerCell: 1)
    #expect(grid.cells.map(\.kind) == [.free, .messages, .messages, .free])
    let free = FreeSlots(slotCount: 4, states)
    #expect(free.count == 2 && free.runCount == 2 && free.longestRun == 1...1)
  }

  @Test func neighboursThatLookTheSameAreOne() {
    let grid = SlotGrid(
      slotCount: 7, [leaf(1), leaf(2), leaf(3), leaf(4, fill: 0.9), leaf(5), leaf(6)],
      slotsPerCell: 1)
    let runs = grid.runs(columnCount: 5)
    #expect(runs.map(\.row) == [0, 0, 0, 1, 1])
    #expect(runs.map(\.column) == [0, 3, 4, 0, 1])
    #expect(runs.map(\.cellCount) == [3, 1, 1, 1, 1])
    #expect(runs.map(\.cell.slots) == [1...3, 4...4, 5...5, 6...6, 7...7])
    #expect(runs.reduce(0) { $0 + $1.cell.filledCount } == 6)
  }

  @Test func freeSlotsAreCountedInRuns() {
    let free = FreeSlots(slotCount: 12, [leaf(1), leaf(4), leaf(5), leaf(11)])
    #expect(free.count == 8 && free.runCount == 3 && free.longestRun == 6...10)
    #expect(FreeSlots(slotCount: 0, []).longestRun == nil)
    #expect(FreeSlots(slotCount: 3, []).longestRun == 1...3)
  }

  @Test func everyUseHasAKind() {
    for use in SlotState.Use.allCases {
      #expect(SlotKind(SlotState(slot: 1, use: use, tree: 6)) != .free)
    }
    let names = SlotKind.allCases.map(\.name)
    #expect(Set(names).count == names.count && Set(SlotKind.allCases.map(\.style)).count == 13)
    for tree in 0..<Roots.maximumCount { #expect(SlotKind(tree: tree).hasFill) }
  }

  @Test func conversationsAreListedByTheirBytes() {
    var sizes = LargestConversations(maximumLargestCount: 3)
    for number: UInt32 in 1...50 {
      sizes.add(number, messageCount: 1, byteCount: Int(number) * 7 % 50)
      sizes.add(number, messageCount: 2, byteCount: 100)
    }
    sizes.endConversation()
    sizes.endConversation()
    #expect(sizes.count == 50 && sizes.messageCount == 150)
    #expect(sizes.largest.map(\.byteCount) == [149, 148, 147])
    #expect(sizes.largest.allSatisfy { $0.messageCount == 3 && Int($0.number) * 7 % 50 >= 47 })
  }
}
