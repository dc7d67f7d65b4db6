package import PageFile

/// Reads everything readable out of the files of a damaged store, whatever is missing, and reports
/// the losses.
///
/// It works on pages, trees, keys and values, without knowing their meaning, and changes nothing.
/// See docs/design.md, "Salvage".
///
/// Memory: about a fiftieth of the data file's size, plus the contents of the log and the report.
package final class PageSalvage {
  private let files: DamagedFiles
  /// The source of the key, for the new store that is to be encrypted like the damaged one.
  package let encryption: Encryption?
  private let pages: SalvagedPages
  private var leaves: [Int: LeafIndex] = [:]
  /// The result of the salvage.
  package let report: SalvageReport

  /// Opens the files in a directory of any kind, and reads them without telling of progress.
  package convenience init(
    in directory: any StorageDirectory, name: String, encryption: Encryption? = nil
  ) throws(PageFileError) {
    do {
      try self.init(in: directory, name: name, encryption: encryption) { _, _ in }
    } catch let error as PageFileError {
      throw error
    } catch {
      preconditionFailure("progress: threw an error")
    }
  }

  /// Opens the files in a directory of any kind.
  ///
  /// Reads the whole data file once.
  ///
  /// - Parameters:
  ///   - encryption: The source of the key of an encrypted store.
  ///   - progress: Called before each part of the data file, and behind the last one, with the
  ///     number of slots read and that of all slots; an error that it throws ends the salvage.
  /// - Throws: The error of `progress`; `ioError` if the data file cannot be opened;
  ///   `unsupportedFormat`, `notADatabase`; `keyMissing`, `invalidKey`, `wrongKey`, `notEncrypted`;
  ///   `corruptMeta` if the store id, or an intact key record, is found nowhere, without which no
  ///   page can be proven.
  package init(
    in directory: any StorageDirectory, name: String, encryption: Encryption? = nil,
    progress: (_ slotCount: Int, _ totalSlotCount: Int) throws -> Void
  ) throws {
    self.encryption = encryption
    let appKey = try encryption?.makeCipher(path: directory.path(of: name))
    files = try DamagedFiles(in: directory, name: name)
    let identity = try StoreIdentity.find(in: files, appKey)
    if let keys = identity.keys { files.unlock(keys) }
    var report = SalvageReport()
    let meta = Self.chooseMeta(files, identity, &report.findings)
    let scan = try SlotScan(SlotReader(files: files, identity: identity), progress: progress)
    var claims = TableClaims(scan, root: meta?.table)
    let pages = SalvagedPages(scan, &claims)
    var log = SalvagedLog(files, identity, over: pages)
    if let meta { log.follow(meta) } else { log.followHeaders() }
    pages.apply(log)
    pages.removeStale()
    self.pages = pages
    report.storeID = "\(identity.storeID)"
    report.pageByteCount = identity.pageByteCount
    report.slotCount = scan.reader.slotCount
    report.pageCount = pages.entries.count
    report.lastLSN = log.lsn
    report.findings += log.findings
    report.lostCommits = log.lostCommits
    report.lostPages = claims.lost + pages.lostPages()
    if !claims.isExact { report.addUnknown(scan.unreadable) }
    self.report = report
  }

  /// Chooses the meta slot to start from, and adds the faults of the slots to `findings`.
  ///
  /// A slot proves nothing if its log is gone while a later log exists: it is older than the store.
  private static func chooseMeta(
    _ files: DamagedFiles, _ identity: StoreIdentity, _ findings: inout [String]
  ) -> MetaSlot? {
    let readings = files.metaBytes.enumerated().map { index, bytes in
      Bytes.with(bytes) { MetaSlot.read($0, index: index, identity.keys) }
    }
    var metas: [MetaSlot] = []
    for (index, reading) in readings.enumerated() {
      if case .valid(let meta) = reading, meta.storeID == identity.storeID,
        meta.pageByteCount == identity.pageByteCount
      {
        metas.append(meta)
      } else {
        findings.append("meta slot \(index) cannot be read")
      }
    }
    let recovery = WALRecovery(
      files: files.wals.map { WALRecovery.File(file: $0.file, header: $0.header) },
      dataPath: files.dataFile.path, keys: identity.keys)
    if let (meta, _) = try? recovery.chooseMeta(metas.map { .valid($0) }) { return meta }
    let headers = files.wals.compactMap { $0.header }.filter {
      $0.storeID == identity.storeID && !$0.isEmpty
    }
    let isLogWhole = files.wals.allSatisfy { $0.header != nil }
    let newest = metas.max { $0.writeNumber < $1.writeNumber }
    guard let newest else { return nil }
    if isLogWhole, headers.contains(where: { $0.generation.counter > newest.generation.counter }) {
      findings.append("the readable meta slot is older than the log")
      return nil
    }
    return newest
  }

  /// Returns one of the words as of the last commit that could be read; nil if it is unknown.
  package func word(_ index: Int) -> UInt64? { pages.state?.word(index) }

  /// Returns a cursor over the cells of a tree, in key order.
  package func cursor(_ tree: Int) -> SalvageCursor { SalvageCursor(pages, leaves(of: tree)) }

  private func leaves(of tree: Int) -> LeafIndex {
    if let known = leaves[tree] { return known }
    let index = LeafIndex(pages, tree: TreeNumber(tree))
    leaves[tree] = index
    return index
  }

  /// The result of looking up a key.
  package enum Lookup {
    /// The key was present at this LSN.
    case found(LSN)
    /// The key was absent at this LSN.
    case absent(LSN)
    /// The page where the key would be is lost, or its value is.
    case unknown
  }

  /// Looks up a key and appends its value.
  package func value(of key: Bytes, in tree: Int, to buffer: inout ByteBuffer) -> Lookup {
    let index = leaves(of: tree)
    var leaf: SalvagedPage?
    if let place = index.index(before: key), index.covers(place, key) {
      leaf = pages.page(index.leaves[place].number)
    } else {
      // Between two leaves, only a branch can tell that no other leaf lay between them.
      leaf = pages.descend(TreeNumber(tree), toward: key, level: 0)
    }
    guard let leaf else { return .unknown }
    let found = TreePage(leaf.bytes).search(key)
    guard found.isEqual else { return .absent(pages.provenLSN(of: leaf)) }
    let reason = pages.append(valueOf: found.index, in: leaf, to: &buffer)
    return reason == nil ? .found(pages.provenLSN(of: leaf)) : .unknown
  }

  /// True if another process has written to the store meanwhile, so that the data read is of
  /// different moments.
  package var haveFilesChanged: Bool { files.haveChanged }
}
