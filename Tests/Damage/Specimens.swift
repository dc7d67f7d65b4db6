package import PageFile

/// The moments at which damage is tried.
extension Specimen {
  /// One of each kind: closed, in use, and at every step of a checkpoint with commits in both logs.
  package static func all() throws(PageFileError) -> [Specimen] {
    var all = [try closed(), try inUse(), try withUnsyncedTail(), try withoutWatermark()]
    all += try inMidCheckpoint()
    all.append(try withWords())
    return all
  }

  /// After a clean close, with remains of earlier commits in both WAL files.
  package static func closed() throws(PageFileError) -> Specimen {
    let files = MemoryDirectory()
    let maker = try checkpointed(in: files)
    try maker.commits(2)
    try maker.database.close()
    return Specimen("closed", files.copy(), maker.states)
  }

  /// As a killed process leaves it: durable commits in the log, and the watermark behind them.
  package static func inUse() throws(PageFileError) -> Specimen {
    let files = MemoryDirectory()
    let maker = try checkpointed(in: files)
    try maker.commits(8)
    return Specimen("in use", files.copy(), maker.states)
  }

  /// As a killed process leaves it, with words, and with commits that change nothing else.
  package static func withWords() throws(PageFileError) -> Specimen {
    let files = MemoryDirectory()
    let maker = try checkpointed(in: files, hasWords: true)
    try maker.commits(8)
    return Specimen("words", files.copy(), maker.states)
  }

  /// With commits behind the durable ones that nobody waited for, and that nothing proves.
  package static func withUnsyncedTail() throws(PageFileError) -> Specimen {
    let files = MemoryDirectory()
    let maker = try checkpointed(in: files)
    try maker.commits(4)
    let durable = maker.states.count - 1
    try maker.commits(3, .relaxed)
    return Specimen("unsynced tail", files.copy(), maker.states, witnessed: durable)
  }

  /// After a power cut that took the last watermark: the last commit has no witness.
  package static func withoutWatermark() throws(PageFileError) -> Specimen {
    let whole = try inUse()
    let files = whole.files.copy()
    for name in Specimen.fileNames.dropFirst() {
      guard var bytes = files[name] else { continue }
      for offset in Anatomy.watermarks(in: bytes) {
        bytes.replaceSubrange(offset..<offset + 512, with: repeatElement(0, count: 512))
      }
      files[name] = bytes
    }
    return Specimen("no watermark", files, whole.states, witnessed: whole.lastLSN - 1)
  }

  /// At each step of a checkpoint that has commits in the file that ended and in the one begun.
  package static func inMidCheckpoint() throws(PageFileError) -> [Specimen] {
    let moment = Locked(Moment())
    let directory = HookedDirectory { (call, files) throws(PageFileError) in
      let isRefused = moment.withLock { moment in
        if moment.keepsCopies && call.isChange { moment.copies.append((call, files.copy())) }
        return moment.refusesPages && call.kind == .write && call.name == storeName
          && call.offset >= 2 * MetaSlot.regionByteCount
      }
      if isRefused { throw .diskFull }
    }
    let maker = try checkpointed(in: directory)
    try maker.commits(4)
    // A checkpoint that finds no room leaves its file ended, and commits go to the other one.
    moment.withLock { $0.refusesPages = true }
    try? maker.database.checkpoint()
    try maker.commits(4)
    moment.withLock {
      $0.refusesPages = false
      $0.keepsCopies = true
    }
    try maker.database.checkpoint()
    let copies = moment.withLock { moment in
      moment.keepsCopies = false
      return moment.copies
    }
    return copies.enumerated().map { index, step in
      Specimen(
        "checkpoint step \(index), before \(step.call.kind) of \(step.call.name)", step.files,
        maker.states)
    }
  }

  private struct Moment {
    var refusesPages = false
    var keepsCopies = false
    var copies: [(call: HookedDirectory.Call, files: MemoryDirectory)] = []
  }

  /// A store whose first commits are in the data file, with freed pages and slots.
  private static func checkpointed(
    in directory: any StorageDirectory, hasWords: Bool = false
  ) throws(PageFileError) -> SpecimenMaker {
    let maker = try SpecimenMaker(in: directory, hasWords: hasWords)
    try maker.commits(3)
    try maker.database.checkpoint()
    try maker.commits(3)
    try maker.database.checkpoint()
    return maker
  }
}
