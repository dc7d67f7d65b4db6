/// Opening and creating a store, and the first write after that.
///
/// See docs/design.md, "Opening".
extension Engine {
  /// - Parameter former: The engine that this one takes over from. The store then has to be the
  ///   same one, and is not created if it is missing.
  static func open(
    _ directory: any StorageDirectory, _ name: String, _ options: DatabaseOptions,
    resuming former: Engine? = nil
  ) throws(PageFileError) -> Engine {
    guard PageSize.allowed.contains(options.pageByteCount) else {
      throw .limitExceeded(
        what: "page size in bytes (4096, 8192, 16384 or 32768)", value: options.pageByteCount,
        limit: 32768)
    }
    guard !name.isEmpty else {
      throw .ioError(call: "open", errno: SystemCall.nameIsUnknown, path: "\"\"")
    }
    let appKey = try options.encryption?.makeCipher(path: directory.path(of: name))
    if try !directory.exists(name) {
      let hasLog = try walFileExists(directory, name)
      // Checked again: the log may belong to a store that was created between the two checks.
      if try !directory.exists(name) {
        if hasLog || former != nil {
          throw .mainFileMissing(path: directory.path(of: name))
        }
        try refuseOlder(than: options, found: .zero)
        if options.access == .readWrite { try create(directory, name, options, appKey) }
      }
    }
    return options.access == .readWrite
      ? try openForWriting(directory, name, options, appKey, former)
      : try openForReading(directory, name, options, appKey, former)
  }

  private static func walFileExists(
    _ directory: any StorageDirectory, _ name: String
  ) throws(PageFileError) -> Bool {
    for walName in walFileNames(name) where try directory.exists(walName) { return true }
    return false
  }

  private static func openForWriting(
    _ directory: any StorageDirectory, _ name: String, _ options: DatabaseOptions,
    _ appKey: (any PageCipher)?, _ former: Engine?
  ) throws(PageFileError) -> Engine {
    let dataFile = try directory.open(name, .readWrite)
    var walFiles: [(any StorageFile)?] = [nil, nil]
    let engine: Engine
    do throws(PageFileError) {
      guard try dataFile.tryLock() || Defect.lockIgnored.isPlanted else {
        throw dataFile.isLockedByThisProcess
          ? .alreadyOpen(path: dataFile.path) : .busy(path: dataFile.path)
      }
      try refuseReplaced(dataFile, directory, name)
      try refuseOtherNames(dataFile, directory, name)
      try openWALFiles(&walFiles, directory, name, .readWrite)
      try refuseEmpty(dataFile, walFiles)
      let reader = StoreReader(
        dataFile: dataFile, walFiles: walFiles, cacheByteCount: options.cacheByteCount,
        appKey: appKey)
      let (pager, recovered) = try reader.recover(nil, reader.fingerprint())
      try refuseOther(pager, recovered, than: former)
      try refuseOlder(than: options, found: recovered.end.lsn)
      let meta = recovered.meta
      if meta.features.mayRead != 0 {
        throw .unsupportedFormat(version: MetaSlot.formatVersion, features: meta.features.all)
      }
      engine = Engine(
        directory: directory, name: name, options: options,
        life: former.map { $0.life + 1 } ?? 0, pager: pager, recovered: recovered,
        walFiles: walFiles)
    } catch {
      dataFile.close()
      for file in walFiles { file?.close() }
      throw error
    }
    // Opening only reads the log it found, so that the first page is on the screen before the first
    // sync. The first write or a quiet moment moves the log to the data file.
    engine.keepWithinBudget()
    engine.recoverWhenQuiet()
    return engine
  }

  /// Opens the WAL files that exist and are not open yet.
  @inline(never)
  package static func openWALFiles(
    _ files: inout [(any StorageFile)?], _ directory: any StorageDirectory, _ name: String,
    _ mode: FileMode
  ) throws(PageFileError) {
    for (index, walName) in walFileNames(name).enumerated() where files[index] == nil {
      if try directory.exists(walName) { files[index] = try directory.open(walName, mode) }
    }
  }

  private static func refuseEmpty(
    _ dataFile: any StorageFile, _ walFiles: [(any StorageFile)?]
  ) throws(PageFileError) {
    guard try dataFile.byteCount() == 0 else { return }
    let hasLog = walFiles.contains { $0 != nil }
    throw hasLog ? .mainFileMissing(path: dataFile.path) : .notADatabase(path: dataFile.path)
  }

  // MARK: Reading beside the owner

  private static func openForReading(
    _ directory: any StorageDirectory, _ name: String, _ options: DatabaseOptions,
    _ appKey: (any PageCipher)?, _ former: Engine?
  ) throws(PageFileError) -> Engine {
    let dataFile = try directory.open(name, .read)
    var walFiles: [(any StorageFile)?] = [nil, nil]
    do throws(PageFileError) {
      try openWALFiles(&walFiles, directory, name, .read)
      try refuseEmpty(dataFile, walFiles)
      var reader = StoreReader(
        dataFile: dataFile, walFiles: walFiles, cacheByteCount: options.cacheByteCount,
        appKey: appKey)
      let (pager, recovered) = try reader.recoverBesideOwner(nil) { () throws(PageFileError) in
        try openWALFiles(&walFiles, directory, name, .read)
        return walFiles
      }
      try refuseOther(pager, recovered, than: former)
      try refuseOlder(than: options, found: recovered.end.lsn)
      return Engine(
        directory: directory, name: name, options: options,
        life: former.map { $0.life + 1 } ?? 0, pager: pager, recovered: recovered,
        walFiles: walFiles)
    } catch {
      dataFile.close()
      for file in walFiles { file?.close() }
      throw error
    }
  }

  // MARK: The first write

  /// The number of meta slot writes before the first commit: once more, then both slots twice.
  private static let maximumMetaWriteCount: UInt64 = 5

  /// Returns the parts that writing needs, or nil if there is nothing for a checkpoint to move.
  ///
  /// Creates them if the log found at opening is not in the data file yet. The caller must not be
  /// inside the gate.
  func recoveredSide() throws(PageFileError) -> WriteSide? {
    if let side = state.withLock({ $0.writing }) { return side }
    if options.access == .readOnly || state.withLock({ $0.recovered.isClean }) { return nil }
    try enterGate()
    defer { gate.leave() }
    return try writeSide()
  }

  /// Returns the parts that writing needs, creating them and marking the store as in use before the
  /// first commit.
  ///
  /// The caller is inside the gate.
  func writeSide() throws(PageFileError) -> WriteSide {
    if let existing = state.withLock({ $0.writing }) { return existing }
    let (recovered, isPoisoned) = state.withLock { ($0.recovered, $0.isPoisoned) }
    if isPoisoned { throw .poisoned }
    // A header with a greater number would be unreadable.
    try Counter.check(recovered.end.lsn.next.rawValue, "LSN")
    try Counter.check(recovered.end.generationCounter + 1, "WAL generation")
    let writeNumber = recovered.writeNumbers.max() ?? 0
    try Counter.check(writeNumber + Self.maximumMetaWriteCount, "number of a meta slot's write")
    try Self.refuseReplaced(pager.dataFile, directory, name)
    // Read before anything is written: a store found to be damaged here is left as it is.
    let (slots, outdated) = try usedSlots(recovered.tables)
    try checkNumbers()
    let files: [any StorageFile]
    do throws(PageFileError) {
      files = try walFilesToWrite()
    } catch {
      // After a failed sync the lengths of the files are unknown; on a retry they would look right.
      if case .ioError = error { state.withLock { $0.isPoisoned = true } }
      throw error
    }
    let metas = MetaSlots(
      pager.dataFile, newest: recovered.meta, writeNumbers: recovered.writeNumbers,
      keys: pager.keys)
    let checkpointer = Checkpointer(
      pager: pager, published: published, metas: metas, slots: slots,
      believesZeros: !recovered.isErasurePending)
    let wal: WALWriter
    let numbers: [Range<UInt32>]
    do throws(PageFileError) {
      wal = try beginUse(files, checkpointer, recovered)
      numbers = try freeNumbers()
    } catch {
      // The meta slots and headers are in an unknown state, which reopening resolves. A locked
      // device has already refused the first write.
      if !error.isRefusal || metas.hasWritten { state.withLock { $0.isPoisoned = true } }
      throw error
    }
    // Both meta slots have been written since, so no table refers to these slots any more.
    checkpointer.slots.withLock { $0.release(outdated) }
    let side = WriteSide(
      wal: wal, checkpointer: checkpointer, numbers: PageNumbers(free: numbers),
      patches: PatchMaker(framesOffset: wal.form.framesOffset))
    state.withLock {
      $0.writing = side
      $0.isErasureWanted = recovered.isErasurePending
    }
    return side
  }

  /// Marks the store as in use, durably, with a log that holds no commits.
  private func beginUse(
    _ files: [any StorageFile], _ checkpointer: Checkpointer, _ recovered: RecoveredState
  ) throws(PageFileError) -> WALWriter {
    let generation = Generation(
      after: recovered.end.generationCounter, random: options.random())
    if let settledLog = recovered.settledLog {
      // No commit counts in the log that the clean close named, and the other file is superfluous.
      // So a new log is begun in the other one, as by a turn. Continuing the named log would give
      // its generation to every copy of the closed store, and the log of one copy would pass for
      // that of another.
      let current = 1 - settledLog
      try beginLog(files[current], generation, recovered)
      if !Defect.inUseUnmarked.isPlanted { try publishInUse(checkpointer, generation) }
      return try makeWAL(files, current: current, generation, recovered)
    }
    // The meta slot may have been read from the system's page cache; this puts it on the disk.
    if !Defect.metaNotRewritten.isPlanted { try checkpointer.rewriteNewestMeta() }
    try moveLogToDataFile(checkpointer, recovered, generation)
    for file in files {
      // The length found may also exist in the system's memory only. Writing the last sector puts
      // it on the disk.
      let end = WALWriter.byteCountMin
      try writeZeros(file, from: end - WALHeader.sectorByteCount, to: end)
    }
    try beginLog(files[0], generation, recovered)
    try beginLog(files[1], nil, recovered)
    // From here on a meta slot without its log is refused.
    if !Defect.openingNotTurned.isPlanted { try publishInUse(checkpointer, generation) }
    return try makeWAL(files, current: 0, generation, recovered)
  }

  private func publishInUse(
    _ checkpointer: Checkpointer, _ generation: Generation
  ) throws(PageFileError) {
    var meta = checkpointer.meta
    meta.generation = generation
    meta.writer = .turn
    meta.isClean = false
    try checkpointer.publish(meta)
  }

  private func makeWAL(
    _ files: [any StorageFile], current: Int, _ generation: Generation,
    _ recovered: RecoveredState
  ) throws(PageFileError) -> WALWriter {
    var byteCounts: [Int] = []
    for file in files { byteCounts.append(try file.byteCount()) }
    return WALWriter(
      files: files, form: LogForm(pager.storeID, pager.keys), current: current,
      generation: generation, lastLSN: recovered.end.lsn, chain: recovered.end.chain,
      allocatedByteCounts: byteCounts)
  }

  /// Writes every page that the log changed to a free slot, regardless of what is already there,
  /// and publishes the table that holds them, as an opening.
  private func moveLogToDataFile(
    _ checkpointer: Checkpointer, _ recovered: RecoveredState, _ generation: Generation
  ) throws(PageFileError) {
    let snapshot = published.current
    var meta = recovered.meta
    meta.checkpointLSN = recovered.end.lsn
    meta.chain = recovered.end.chain
    meta.generation = generation
    meta.writer = .opening
    meta.isClean = false
    meta.isErasurePending = recovered.isErasurePending
    meta.roots = recovered.end.roots
    if Defect.staleWordsMoved.isPlanted { meta.roots.words = recovered.meta.roots.words }
    var merged = PageMap()
    defer { merged.free() }
    let older = Defect.mapsMergedBackwards.isPlanted ? snapshot.newest : 1 - snapshot.newest
    for map in [snapshot.map(older), snapshot.map(1 - older)] {
      map.forEach { number, image in
        image?.retain()
        merged.set(number, to: image)
      }
    }
    let written = try checkpointer.write(
      merged, onto: recovered.meta.table, pageNumberEnd: meta.roots.pageNumberEnd,
      lsn: meta.checkpointLSN)
    try checkpointer.publish(written, meta) { published.replaceAll($0) }
  }

  /// Begins a WAL file with a generation, or marks it as empty.
  ///
  /// Durable on return.
  private func beginLog(
    _ file: any StorageFile, _ generation: Generation?, _ recovered: RecoveredState
  ) throws(PageFileError) {
    let header = WALHeader(
      storeID: pager.storeID, isEmpty: generation == nil, generation: generation ?? .none,
      firstLSN: recovered.end.lsn.next, chain: recovered.end.chain)
    try file.write(header.encode(pager.keys), at: 0)
    // Durable after this: the header.
    if !Defect.openedLogUnsynced.isPlanted { try file.sync() }
  }

  /// Returns both WAL files with blocks for commits, creating the missing ones.
  private func walFilesToWrite() throws(PageFileError) -> [any StorageFile] {
    // Durable after this: the names of the existing files. Their creator may have been killed
    // before it synced the directory, and a WAL file's name must not outlive the data file's.
    if !Defect.foundNamesUnsynced.isPlanted { try directory.sync() }
    var files: [any StorageFile] = []
    var hasCreated = false
    for (index, walName) in walFileNames.enumerated() {
      let file: any StorageFile
      if let existing = walFiles.withLock({ $0[index] }) {
        try Self.refuseReplaced(existing, directory, walName)
        file = existing
      } else {
        file = try directory.open(walName, .create)
        file.takeAccess(of: pager.dataFile)
        walFiles.withLock { $0[index] = file }
        hasCreated = true
      }
      let byteCount = try file.byteCount()
      if byteCount < WALWriter.byteCountMin {
        try writeZeros(file, from: byteCount, to: WALWriter.byteCountMin)
        // Durable after this: the blocks that commits will be written to.
        try file.sync()
      }
      files.append(file)
    }
    if hasCreated {
      // Durable after this: the names of the WAL files created now.
      if !Defect.madeNamesUnsynced.isPlanted { try directory.sync() }
      // If the data file was moved before the WAL files existed, they were not moved with it.
      try Self.refuseReplaced(pager.dataFile, directory, name)
    }
    return files
  }
}
