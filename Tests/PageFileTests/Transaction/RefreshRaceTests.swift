import Damage
import PageFile
import Testing

/// A reader beside the owner while the owner goes on: what it has read counts as long as the owner has
/// not begun to write over it.
struct RefreshRaceTests {
  private static func options(_ access: DatabaseOptions.Access, budget: Int = 64) -> DatabaseOptions
  {
    var options = smallPages
    options.backgroundWork = .caller
    options.access = access
    options.cacheByteCount = budget * 4096
    return options
  }

  /// The files at each change that a checkpoint makes, and which of the meta slots it has written.
  private func checkpoint(
    from files: MemoryDirectory
  ) throws -> [(copy: MemoryDirectory, slots: Set<Int>)] {
    let moments = Locked<[(copy: MemoryDirectory, slots: Set<Int>)]>([])
    let written = Locked<Set<Int>>([])
    let isOn = Locked(false)
    let directory = HookedDirectory(files) { call, files in
      guard isOn.withLock({ $0 }) else { return }
      if call.isChange { moments.withLock { $0.append((files.copy(), written.withLock { $0 })) } }
      if call.kind == .write, call.name == "x", call.offset < 2 * MetaSlot.regionByteCount {
        written.withLock { _ = $0.insert(call.offset / MetaSlot.regionByteCount) }
      }
    }
    let owner = try Database(in: directory, name: "x", options: Self.options(.readWrite))
    for round in 1...5 { try Rounds.write(round, to: owner) }
    try owner.checkpoint()
    for round in 6...9 { try Rounds.write(round, to: owner) }
    isOn.withLock { $0 = true }
    try owner.checkpoint()
    try Rounds.write(10, to: owner)
    isOn.withLock { $0 = false }
    return moments.withLock { $0 }
  }

  /// Whatever a checkpoint has done meanwhile, one look is enough until it writes the slot that was
  /// chosen.
  @Test func aTurnDoesNotMakeAnOpeningStartOver() throws {
    let moments = try checkpoint(from: MemoryDirectory())
    let first = try #require(moments.first?.copy)
    let chosen = try #require(first.newestMetaSlot).slot
    var keptCount = 0
    for moment in moments {
      let shown = first.copy()
      let lookCount = Locked(0)
      let directory = HookedDirectory(shown) { (call, files) throws(PageFileError) in
        guard call.kind == .read, call.name == "x" else { return }
        if call.offset == MetaSlot.offset(of: 0) { lookCount.withLock { $0 += 1 } }
        guard call.offset >= 2 * MetaSlot.regionByteCount else { return }
        // Slots and headers have been read: now the owner has gone on.
        for name in ["x", "x-wal0", "x-wal1"] {
          guard let bytes = moment.copy[name] else { continue }
          let file = try files.open(name, .readWrite)
          try Bytes.with(bytes) { (bytes) throws(PageFileError) in try file.write(bytes, at: 0) }
        }
      }
      let reader = try Database(in: directory, name: "x", options: Self.options(.readOnly))
      let isKept = !moment.slots.contains(chosen)
      if isKept { keptCount += 1 }
      #expect(lookCount.withLock { $0 } == (isKept ? 2 : 4))
      #expect(try [9, 10].contains(Rounds.read(reader)))
    }
    #expect(keptCount >= 3 && keptCount < moments.count)
  }

  /// Reading everything anew gives up what the log had before.
  @Test func aLogThatIsReadAnewTakesMemoryOnce() throws {
    func key(_ index: Int) -> [UInt8] { [UInt8(index >> 8), UInt8(index & 255)] }
    let files = MemoryDirectory()
    let owner = try Database(in: files, name: "x", options: Self.options(.readWrite, budget: 4000))
    func writeAll(_ round: UInt8) throws {
      try owner.write { (source) throws(PageFileError) in
        for index in 0..<1600 { try source.put(key(index), [UInt8](repeating: round, count: 900)) }
      }
    }
    try writeAll(1)
    let peak = Locked(0)
    let watched = Locked<Database?>(nil)
    let directory = HookedDirectory(files) { _, _ in
      guard let reader = watched.withLock({ $0 }) else { return }
      peak.withLock { $0 = max($0, reader.livingPageCount) }
    }
    let reader = try Database(in: directory, name: "x", options: Self.options(.readOnly))
    watched.withLock { $0 = reader }
    for round in UInt8(2)...4 {
      try owner.checkpoint()
      try writeAll(round)
      #expect(try reader.contents().values.allSatisfy { $0[0] == round })
    }
    watched.withLock { $0 = nil }
    let loggedCount = owner.statistics.loggedPageCount
    #expect(loggedCount >= 400)
    #expect(peak.withLock { $0 } < loggedCount + 64 + 64)
  }

  /// Nobody tells a reader that its store was removed, and that another one has its name.
  @Test func aReaderLearnsThatItsStoreIsGone() throws {
    let files = MemoryDirectory()
    let owner = try Database(in: files, name: "x", options: Self.options(.readWrite))
    try Rounds.write(1, to: owner)
    let reader = try Database(in: files, name: "x", options: Self.options(.readOnly))
    let transaction = try reader.beginRead()
    try owner.close()
    for name in ["x", "x-wal0", "x-wal1"] { try files.remove(name) }
    let replaced = PageFileError.fileReplaced(path: "memory:x")
    #expect(throws: replaced) { _ = try reader.beginRead() }
    try Rounds.write(2, to: Database(in: files, name: "x", options: Self.options(.readWrite)))
    #expect(throws: replaced) { _ = try reader.beginRead() }
    // What was begun before may end.
    #expect(try Rounds.round(of: contents(of: transaction.source)) == 1)
    try reader.close()
    let reopened = try Database(in: files, name: "x", options: Self.options(.readOnly))
    #expect(try Rounds.read(reopened) == 2)
  }
}
