import PageFile

/// The facts that prove every page of a store: the store id and the page size.
///
/// The meta slots hold both. If neither can be read, the WAL headers hold the id as well, and
/// damaged slots may still hold it. Each of these is a guess until the checksum of a page in the
/// data file, or of the log's first page, matches under it. With 64 bits, one page is proof enough.
/// Of an encrypted store, a key record that opens proves both.
struct StoreIdentity: Equatable {
  let storeID: StoreID
  let pageByteCount: Int
  /// The keys of an encrypted store.
  var keys: StoreKeys?

  /// The size of the content of a page.
  var contentByteCount: Int { pageByteCount - (keys == nil ? 0 : PageSize.sealByteCount) }

  static func == (a: StoreIdentity, b: StoreIdentity) -> Bool {
    a.storeID == b.storeID && a.pageByteCount == b.pageByteCount && a.keys === b.keys
  }

  /// - Throws: `keyMissing` for an encrypted store without a key, `wrongKey` if no record is of the
  ///   key, `notEncrypted` for a plain store with a key; `unsupportedFormat`, `notADatabase`;
  ///   `corruptMeta` if the id is found nowhere, or the records of the key do not open.
  static func find(
    in files: DamagedFiles, _ appKey: (any PageCipher)? = nil
  ) throws(PageFileError) -> StoreIdentity {
    let places = recordPlaces(files)
    if let appKey, let identity = try unlock(places, appKey) { return identity }
    let withoutKey: PageFileError =
      appKey == nil ? .keyMissing(path: files.dataFile.path) : .wrongKey(path: files.dataFile.path)
    var certain: [StoreIdentity] = []
    var isForeign = true
    for bytes in files.metaBytes {
      switch Bytes.with(bytes, { MetaSlot.read($0) }) {
      case .valid(let meta):
        certain.append(StoreIdentity(storeID: meta.storeID, pageByteCount: meta.pageByteCount))
      case .unsupported(let version, let features):
        throw .unsupportedFormat(version: version, features: features)
      case .locked: throw withoutKey
      case .unreadable: isForeign = false
      case .foreign: break
      }
    }
    if appKey != nil, !certain.isEmpty { throw .notEncrypted(path: files.dataFile.path) }
    if let first = certain.first, certain.allSatisfy({ $0 == first }) { return first }
    // The two slots may be of different stores, as after a partial restore of the file: the pages
    // decide.
    for guess in guesses(files, certain) where isProven(guess, in: files) {
      // Somebody without the key could make plain pages.
      if appKey != nil { throw .notEncrypted(path: files.dataFile.path) }
      return guess
    }
    // Only now: the header of a plain store's log looks sealed if its state has become zero.
    if places.contains(where: \.isInHeader) { throw withoutKey }
    let hasHeader = files.wals.contains { $0.header != nil }
    if isForeign && !hasHeader && certain.isEmpty {
      throw .notADatabase(path: files.dataFile.path)
    }
    throw .corruptMeta(
      reason: "no meta slot or WAL header holds the store id, "
        + "without which no page can be verified")
  }

  /// Returns the identity of an encrypted store, proven by a record that opens; nil if no record is
  /// of the key.
  private static func unlock(
    _ places: [RecordPlace], _ appKey: any PageCipher
  ) throws(PageFileError) -> StoreIdentity? {
    var isOurs = false
    for place in places {
      for pageByteCount in PageSize.allowed {
        switch StoreKeys.unlock(
          [place.record], of: place.storeID, pageByteCount: pageByteCount, under: appKey)
        {
        case .unlocked(let keys):
          return StoreIdentity(storeID: place.storeID, pageByteCount: pageByteCount, keys: keys)
        case .broken: isOurs = true
        case .wrongKey: break
        }
      }
    }
    if isOurs { throw .corruptMeta(reason: "the key record does not open") }
    return nil
  }

  /// A place where a key record may be.
  private struct RecordPlace {
    let storeID: StoreID
    let record: KeyRecord
    /// True for a place in the header of a WAL file, where no checksum holds without the key.
    let isInHeader: Bool
  }

  /// Returns the places of records in both slots and both WAL headers.
  ///
  /// Slots whose checksum does not hold count too: a record that opens proves itself.
  private static func recordPlaces(_ files: DamagedFiles) -> [RecordPlace] {
    var places: [RecordPlace] = []
    for bytes in files.metaBytes {
      Bytes.with(bytes) { bytes in
        switch MetaSlot.read(bytes) {
        case .locked(let slot):
          places.append(RecordPlace(storeID: slot.storeID, record: slot.record, isInHeader: false))
        case .unreadable:
          guard let slot = MetaSlot.Locked(unproven: bytes) else { return }
          places.append(RecordPlace(storeID: slot.storeID, record: slot.record, isInHeader: false))
        case .valid, .foreign, .unsupported: break
        }
      }
    }
    for wal in files.wals {
      guard let (storeID, record) = Bytes.with(wal.headerBytes, { WALHeader.locked($0) }) else {
        continue
      }
      places.append(RecordPlace(storeID: storeID, record: record, isInHeader: true))
    }
    return places
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
    reader.forEachSlot { slot, page in
      hasPage = page.map { reader.proven($0, in: slot) != nil } ?? false
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
