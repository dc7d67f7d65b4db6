/// What every page of a store has to be proven with: the store id, and how long a page is.
///
/// The meta slots say both. Where neither can be read, the WAL headers have the id as well, and so
/// have damaged slots, perhaps: any of these is a guess until a page of the data file, or the first
/// page of the log, has a checksum that holds with it. With 64 bits, one page is proof enough.
struct StoreIdentity: Equatable {
  let storeID: StoreID
  let pageByteCount: Int

  /// - Throws: `unsupportedFormat`, `notADatabase`; `corruptMeta` when nothing has the id any more.
  static func find(in files: DamagedFiles) throws(PageFileError) -> StoreIdentity {
    var certain: [StoreIdentity] = []
    var isForeign = true
    for bytes in files.metaBytes {
      switch Bytes.with(bytes, { MetaSlot.read($0) }) {
      case .valid(let meta):
        certain.append(StoreIdentity(storeID: meta.storeID, pageByteCount: meta.pageByteCount))
      case .unsupported(let version, let features):
        throw .unsupportedFormat(version: version, features: features)
      case .unreadable: isForeign = false
      case .foreign: break
      }
    }
    // Two slots of two stores, as when a part of a file was put back: the pages decide.
    if let first = certain.first, certain.allSatisfy({ $0 == first }) { return first }
    for guess in guesses(files, certain) where isProven(guess, in: files) { return guess }
    let hasHeader = files.wals.contains { $0.header != nil }
    if isForeign && !hasHeader && certain.isEmpty {
      throw .notADatabase(path: files.dataFile.path)
    }
    throw .corruptMeta(
      reason: "no meta slot and no WAL header has the id of the store, "
        + "without which no page can be proven")
  }

  private static func guesses(
    _ files: DamagedFiles, _ certain: [StoreIdentity]
  ) -> [StoreIdentity] {
    var storeIDs: [StoreID] = []
    for bytes in files.metaBytes {
      Bytes.with(bytes) { bytes in
        var reader = ByteReader(bytes, at: MetaSlot.storeIDOffset)
        if let id = reader.storeID() { storeIDs.append(id) }
      }
    }
    storeIDs += files.wals.compactMap { $0.header?.storeID }
    var guesses = certain
    for storeID in storeIDs {
      for pageByteCount in PageSize.allowed {
        let guess = StoreIdentity(storeID: storeID, pageByteCount: pageByteCount)
        if !guesses.contains(guess) { guesses.append(guess) }
      }
    }
    return guesses
  }

  /// Whether any page of the data file, or of the log's first commit, holds with this guess.
  private static func isProven(_ guess: StoreIdentity, in files: DamagedFiles) -> Bool {
    var hasPage = false
    let reader = SlotReader(files: files, identity: guess)
    reader.forEachSlot { _, page in
      hasPage = page.map { reader.isProven($0) } ?? false
      return !hasPage
    }
    return hasPage || files.wals.contains { isProven(guess, by: $0) }
  }

  /// The log's first page was made from zeros; how far its cells reach says how long it is.
  private static func isProven(_ guess: StoreIdentity, by wal: DamagedFiles.WAL) -> Bool {
    guard let file = wal.file, let header = wal.header, header.storeID == guess.storeID,
      var scan = try? WALScan(file, header)
    else { return false }
    var page = ByteBuffer(capacity: guess.pageByteCount)
    page.append(zeros: guess.pageByteCount)
    var isWhole = false
    _ = try? scan.next { commit in
      var reader = ByteReader(commit.frames)
      guard let frame = PagePatch.nextFrame(&reader), frame.kind == .fresh,
        PagePatch.apply(frame, to: page.mutableBytes),
        let kind = PageKind(rawValue: page.bytes[PageHeader.kindOffset])
      else { return }
      isWhole = Pager.contentRuleBroken(page.bytes, kind) == nil
    }
    return isWhole
  }
}
