import Damage
import PageFile
import Simulation
import Testing

/// The order of writes and syncs, where a crash of a medium that keeps whole sectors cannot tell the
/// difference, or only two threads could: what is promised for worse, held to call by call.
struct ProtocolOrderTests {
  /// Calls on the data file, in order.
  private enum Step: Hashable {
    case meta(slot: Int, writeNumber: UInt64)
    case sync
  }

  private final class Recorder: Sendable {
    private let steps = Locked<[Step]>([])
    let directory: HookedDirectory

    init(_ files: MemoryDirectory = MemoryDirectory()) {
      let steps = steps
      directory = HookedDirectory(files) { call, _ in
        guard call.name == "x" || call.name == "x-new" else { return }
        if call.kind == .sync { steps.withLock { $0.append(.sync) } }
        guard call.kind == .write, call.offset < 2 * MetaSlot.regionByteCount,
          case .valid(let meta) = MetaSlot.read(call.bytes)
        else { return }
        let slot = call.offset / MetaSlot.regionByteCount
        steps.withLock { $0.append(.meta(slot: slot, writeNumber: meta.writeNumber)) }
      }
    }

    func take() -> [Step] {
      steps.withLock { steps in
        defer { steps = [] }
        return steps
      }
    }
  }

  /// The mark of a clean close that only one slot has may never have reached the medium: it is written
  /// again, and synced, before the slot that would be left then is written over.
  @Test func markOfOneSlotIsWrittenAgainFirst() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x")
    try database.write(.full) { (source) throws(PageFileError) in try source.put([1], [1]) }
    let before = files.copy()
    try database.close()
    // Closing writes the slot with the lower number first, and was killed behind that.
    let newer = 1 - (try #require(before.newestMetaSlot)).slot
    let offset = MetaSlot.offset(of: 1 - newer)
    let older = try #require(before["x"])[offset..<offset + MetaSlot.byteCount]
    files["x"]?.replaceSubrange(offset..<offset + MetaSlot.byteCount, with: older)
    let recorder = Recorder(files)
    let reopened = try Database(in: recorder.directory, name: "x")
    try reopened.write(.full) { (source) throws(PageFileError) in try source.put([2], [2]) }
    let steps = recorder.take().filter { $0 != .sync }
    guard case .meta(let slot, _) = try #require(steps.first) else { return }
    #expect(slot == newer)
    #expect(try reopened.contents().count == 2)
  }

  /// Whatever becomes of a slot that is being written, the other one is on the medium.
  @Test func noMetaSlotIsWrittenBeforeTheOtherIsDurable() throws {
    let recorder = Recorder()
    var slots: [Step] = []
    for round in 1...6 {
      let database = try Database(in: recorder.directory, name: "x", options: smallPages)
      try Rounds.write(round, to: database)
      try database.checkpoint()
      try Rounds.write(round + 1, to: database)
      if round % 2 == 0 { try database.close() }
      slots += recorder.take()
    }
    var unsynced: Int?
    var writeCount = 0
    for step in slots {
      switch step {
      case .sync: unsynced = nil
      case .meta(let slot, _):
        #expect(unsynced == nil || unsynced == slot)
        unsynced = slot
        writeCount += 1
      }
    }
    #expect(writeCount > 20)
  }

  /// A header that is torn while it is written over takes its log along.
  ///
  /// A process has died before it erased what a commit had removed, and the next one does so without a
  /// commit of its own.
  @Test(arguments: [false, true])
  func noHeaderOfALogInUseIsWrittenOver(closes: Bool) throws {
    let files = MemoryDirectory()
    let killed = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: killed)
    try killed.checkpoint()
    try killed.write { (source) throws(PageFileError) in
      source.isErasing = true
      try Rounds.write(2, to: source)
    }
    let written = Locked<[Bool]>([])
    let directory = HookedDirectory(files.copy()) { call, files in
      guard call.kind == .write, call.offset == 0, call.name.hasPrefix("x-wal") else { return }
      let header = files[call.name].flatMap { bytes in Bytes.with(bytes) { WALHeader($0) } }
      let isNeeded = (0..<2).contains { index in
        let start = MetaSlot.offset(of: index)
        let bytes = Array(files["x"]?[start..<start + MetaSlot.byteCount] ?? [])
        guard case .valid(let meta) = Bytes.with(bytes, { MetaSlot.read($0) }) else {
          return false
        }
        return meta.writer == .turn && !meta.isClean && meta.generation == header?.generation
      }
      written.withLock { $0.append(isNeeded) }
    }
    let database = try Database(in: directory, name: "x", options: smallPages)
    if closes { try database.close() } else { try database.checkpoint() }
    // An opening's two, and that of a turn at least.
    #expect(written.withLock { $0.count } >= 3)
    #expect(written.withLock { !$0.contains(true) })
    let reopened = try Database(in: directory.files.copy(), name: "x", options: smallPages)
    #expect(try Rounds.read(reopened) == 2)
  }

  /// What an opening has read from the newest slot may be in the system's memory only, so it is
  /// written again before the other one is.
  @Test func anOpeningAfterACrashWritesTheNewestSlotAgainFirst() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    for round in 1...5 {
      try Rounds.write(round, to: database)
      try database.checkpoint()
      try Rounds.write(round, to: database)
      let recorder = Recorder(files.copy())
      let newest = try #require(recorder.directory.files.newestMetaSlot)
      _ = try Database(in: recorder.directory, name: "x", options: smallPages)
      let steps = recorder.take()
      try #require(steps.count > 2)
      #expect(steps[0] == .meta(slot: newest.slot, writeNumber: newest.writeNumber + 1))
      #expect(steps[1] == .sync)
    }
  }

  /// A turn is cut short before the sync of the log that ended: the next durable commit, in the other
  /// log, has to make that one durable, too.
  @Test func aDurableCommitMakesTheOlderLogDurableToo() throws {
    for sync in 1...3 {
      let directory = SimulatedDirectory()
      let database = try Database(in: directory, name: "x", options: smallPages)
      try Rounds.write(1, to: database, .full)
      try Rounds.write(2, to: database, .relaxed)
      let first = directory.callCounts[Fault.Call.sync.rawValue] + sync
      directory.set(.fault(Fault(.sync, first: first, .locked)))
      _ = try? database.checkpoint()
      directory.set(nil)
      try Rounds.write(3, to: database, .full)
      let cut = SimulatedDirectory(directory.disk.afterPowerCut(PowerCut(), .worst))
      #expect(try Rounds.read(Database(in: cut, name: "x", options: smallPages)) == 3)
    }
  }

  /// An opening after a crash is believed without its log only until that has been begun.
  @Test func aLogThatVanishedAfterAnOpeningIsMissed() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    let crashed = files.copy()
    let reopened = try Database(in: crashed, name: "x", options: smallPages)
    try Rounds.write(2, to: reopened, .full)
    let robbed = crashed.copy()
    for name in ["x-wal0", "x-wal1"] {
      robbed[name] = [UInt8](repeating: 0, count: try #require(robbed[name]).count)
    }
    #expect(throws: PageFileError.self) {
      _ = try Database(in: robbed, name: "x", options: smallPages)
    }
  }

  /// A data file of an opening, whose log was not begun yet, is refused beside the logs of what came
  /// after: what these begin with is not in it.
  @Test func anOpeningsDataFileIsRefusedBesideLaterLogs() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    let crashed = files.copy()
    let moments = Locked<[[UInt8]]>([])
    let watched = WatchedDirectory(crashed) { files in
      if let bytes = files["x"] { moments.withLock { $0.append(bytes) } }
    }
    let reopened = try Database(in: watched, name: "x", options: smallPages)
    try Rounds.write(2, to: reopened, .full)
    let earlier = moments.withLock { $0 }
    #expect(earlier.count > 8)
    for round in 3...6 {
      try reopened.checkpoint()
      try Rounds.write(round, to: reopened, .full)
    }
    let later = watched.copy()
    for bytes in earlier {
      let mixed = later.copy()
      mixed["x"] = bytes
      #expect(throws: PageFileError.self) {
        _ = try Database(in: mixed, name: "x", options: smallPages)
      }
    }
  }

  /// A slot's entry has half of the checksum of the table's root; the meta slot has all of it.
  @Test func aMetaSlotThatNamesAnotherRootIsRefused() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    try database.close()
    for slot in 0..<2 {
      let offset = MetaSlot.offset(of: slot)
      let range = offset..<offset + MetaSlot.byteCount
      let bytes = try #require(files["x"])[range]
      guard case .valid(var meta) = Bytes.with(Array(bytes), { MetaSlot.read($0) }) else {
        Issue.record("slot \(slot) cannot be read")
        continue
      }
      meta.table.checksum ^= 1 << 40
      let encoded = meta.encode()
      files["x"]?.replaceSubrange(range, with: encoded.bytes.array())
    }
    #expect(throws: PageFileError.self) {
      _ = try Database(in: files, name: "x", options: smallPages)
    }
  }
}
