/// What becomes of contents that no sync has brought to the medium.
enum Loss {
  /// The power is cut: memory is gone.
  case cut
  /// A sync has failed: memory keeps what was written, and takes it for synced.
  case kept
  /// A sync has failed: memory has what the medium has.
  case dropped
}

/// One of the cells of all files, by number.
enum FileCell {
  case meta(Int)
  case name(Int)
  case header(Int)
  case place(Int)
  case slot(Int)
  case size(Int)

  static let count = 24

  init(_ number: Int) {
    self =
      switch number {
      case 0...1: .meta(number)
      case 2...3: .name(number - 2)
      case 4...5: .header(number - 4)
      case 6...13: .place(number - 6)
      case 14...21: .slot(number - 14)
      default: .size(number - 22)
      }
  }

  func isDirty(_ state: State) -> Bool {
    switch self {
    case .meta(let index): state.metas[index].isDirty
    case .name(let index): state.names[index].isDirty
    case .header(let index): state.headers[index].isDirty
    case .place(let index): state.log[index].isDirty
    case .slot(let index): state.slots[index].isDirty
    case .size(let index): state.sizes[index].isDirty
    }
  }

  /// Whether a power cut may change what a read finds.
  func isUnsettled(_ state: State) -> Bool {
    switch self {
    case .meta(let index): state.metas[index].isUnsettled
    case .name(let index): state.names[index].isUnsettled
    case .header(let index): state.headers[index].isUnsettled
    case .place(let index): state.log[index].isUnsettled
    case .slot(let index): state.slots[index].isUnsettled
    case .size(let index): state.sizes[index].isUnsettled
    }
  }

  typealias Outcome = (content: UInt32, isNew: Bool)

  /// What the medium may hold, each content once.
  ///
  /// - Parameter tears: Whether a sector that was being written may be unreadable.
  func outcomes(_ state: State, tears: Bool) -> [Outcome] {
    var outcomes: [Outcome] = []
    switch self {
    case .meta(let index):
      add(state.metas[index], &outcomes)
      if tears && state.metas[index].isDirty { Self.add(0, false, &outcomes) }
    case .name(let index):
      add(state.names[index], &outcomes)
    case .header(let index):
      add(state.headers[index], &outcomes)
      if tears && state.headers[index].isDirty { Self.add(0, false, &outcomes) }
    case .place(let index):
      addEntries(state.log[index], &outcomes)
    case .slot(let index):
      add(state.slots[index], &outcomes)
    case .size(let index):
      add(state.sizes[index], &outcomes)
    }
    return outcomes
  }

  private func add(
    _ cell: Cell<some FixedWidthInteger & UnsignedInteger>, _ outcomes: inout [Outcome]
  ) {
    cell.forEachOutcome { Self.add(UInt32($0), $0 == cell.cached, &outcomes) }
  }

  /// A commit has two parts, head and tail, and either may be missing; a watermark has a head only.
  private func addEntries(_ cell: Cell<UInt8>, _ outcomes: inout [Outcome]) {
    let isCommitWritten = cell.isDirty && Entry(bits: cell.cached).isCommit
    cell.forEachOutcome { bits in
      Self.add(UInt32(bits), bits == cell.cached, &outcomes)
      if isCommitWritten { Self.add(UInt32(Entry(bits: bits).torn.bits), false, &outcomes) }
    }
  }

  private static func add(_ content: UInt32, _ isNew: Bool, _ outcomes: inout [Outcome]) {
    if !outcomes.contains(where: { $0.content == content }) { outcomes.append((content, isNew)) }
  }

  func settle(_ state: inout State, _ content: UInt32, _ loss: Loss) {
    let byte = UInt8(truncatingIfNeeded: content)
    let keeps = loss == .kept
    switch self {
    case .meta(let index): state.metas[index].fail(content, keepsMemory: keeps)
    case .name(let index):
      state.names[index].fail(byte, keepsMemory: keeps)
      guard byte == 0 else { return }
      // A file without a name is gone.
      state.headers[index] = Cell()
      state.sizes[index] = Cell(state.leastPlaceCount)
      for place in 0..<State.placeCount { state.log[State.place(index, place)] = Cell() }
    case .header(let index): state.headers[index].fail(byte, keepsMemory: keeps)
    case .place(let index): state.log[index].fail(byte, keepsMemory: keeps)
    case .slot(let index): state.slots[index].fail(byte, keepsMemory: keeps)
    case .size(let index):
      state.sizes[index].fail(byte, keepsMemory: keeps)
      if keeps { return }
      // What reached the medium behind the end of a file is in no file.
      for place in Int(byte)..<State.placeCount { state.log[State.place(index, place)] = Cell() }
    }
  }

  private var name: String {
    switch self {
    case .meta(let index): "meta slot \(index)"
    case .name(let index): "the name of wal\(index)"
    case .header(let index): "the header of wal\(index)"
    case .place(let index): "place \(index % State.placeCount) of wal\(index / State.placeCount)"
    case .slot(let index): "slot \(index)"
    case .size(let index): "the size of wal\(index)"
    }
  }

  /// The names of cells that are given as bits.
  static func list(_ cells: UInt32) -> String {
    let names = (0..<count).filter { cells & 1 << UInt32($0) != 0 }.map { FileCell($0).name }
    return names.isEmpty ? "nothing" : names.joined(separator: ", ")
  }
}
