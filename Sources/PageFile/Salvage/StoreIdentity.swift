/// The facts that prove every page of a store: the store id and the page size.
///
/// The meta slots hold both. If neither can be read, the WAL headers hold the id as well, and
/// damaged slots may still hold it. Each of these is a guess until the checksum of a page in the
/// data file, or of the log's first page, matches under it. With 64 bits, one page is proof enough.
struct StoreIdentity: Equatable {
  let storeID: StoreID
  let pageByteCount: Int

  /// - Throws: `keyMissing` for an encrypted store; `unsupportedFormat`, `notADatabase`;
  ///   `corruptMeta` if the id is found nowhere.
  static func find(in files: DamagedFiles) throws(PageFileError) -> StoreIdentity {
    var certain: [StoreIdentity] = []
    var isForeign = true
    for bytes in files.metaBytes {
      switch Bytes.with(bytes, { MetaSlot.read($0) }) {
      case .valid(let meta):
        certain.append(StoreIdentity(storeID: meta.storeID, pageByteCount: meta.pageByteCount))
      case .unsupported(let version, let features):
        throw .unsupportedFormat(version: version, features: features)
      case .locked: throw .keyMissing(path: files.dataFile.path)
      case .unreadable: isForeign = false
      case .foreign: break
      }
    }
    // The two slots are of different stores, as after a partial restore of the file: the pages
    // decide.
    if let first = certain.first, certain.allSatisfy({ $0 == first }) { return first }
    for guess in guesses(files, certain) where isProven(guess, in: files) { return guess }
    let hasHeader = files.wals.contains { $0.header != nil }
    if isForeign && !hasHeader && certain.isEmpty {
      throw .notADatabase(path: files.dataFile.path)
    }
    throw .corruptMeta(
      reason: "no meta slot or WAL header holds the store id, "
        + "without which no page can be verified")
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

  /// Returns true if any page of the data file, or of the log's first commit, verifies under the
  /// guess.
  private static func isProven(_ guess: StoreIdentity, in files: DamagedFiles) -> Bool {
    var hasPage = false
    let reader = SlotReader(files: files, identity: guess)
    reader.forEachSlot { _, page in
      hasPage = page.map { reader.isProven($0) } ?? false
      return !hasPage
    }
    return hasPage || files.wals.contains { isProven(guess, by: $0) }
  }

  /// Returns true if the log's first page is valid at the guessed page size.
  ///
  /// That page was made from zeros; the reach of its cells tells its size.
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
