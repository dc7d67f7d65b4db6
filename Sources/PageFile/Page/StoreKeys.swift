import Synchronization

/// The keys of an open encrypted store, all derived from its data key.
///
///  1. Pages, the log, and meta slots have keys of their own, so that no unit of one kind can stand
///     for one of another, whatever their contexts.
///  2. The number of seals bounds the chance that two nonces are equal; it is stored in the meta
///     slots.
package final class StoreKeys: Sendable {
  package let storeID: StoreID
  private let current: Locked<KeyRecord>
  /// The record that whatever is written next carries.
  package var record: KeyRecord { current.withLock { $0 } }
  package let pages: any PageCipher
  package let log: any PageCipher
  package let metas: any PageCipher
  private let seals = Atomic<UInt64>(0)

  private init(
    _ dataKey: Bytes, _ record: KeyRecord, _ storeID: StoreID, under appKey: AppKey
  ) {
    self.storeID = storeID
    current = Locked(record)
    let (cipher, derivation) = (appKey.cipher, appKey.derivation.rekeyed(dataKey))
    pages = cipher.keyed(with: derivation, "msgstore 1 page")
    if Defect.oneKeyForAll.isPlanted {
      (log, metas) = (pages, pages)
    } else {
      log = cipher.keyed(with: derivation, "msgstore 1 log")
      metas = cipher.keyed(with: derivation, "msgstore 1 meta")
    }
  }

  /// Draws the data key of a new store.
  package static func make(
    for storeID: StoreID, pageByteCount: Int, under cipher: any PageCipher
  ) -> StoreKeys {
    var dataKey = ByteBuffer(capacity: SealedUnit.keyByteCount)
    cipher.fillRandom(dataKey.extend(by: SealedUnit.keyByteCount))
    defer { dataKey.mutableBytes.zero(0, dataKey.count) }
    let appKey = AppKey(cipher, for: storeID)
    let record = KeyRecord.make(
      dataKey: dataKey.bytes, number: 1, storeID: storeID, pageByteCount: pageByteCount,
      under: appKey)
    return StoreKeys(dataKey.bytes, record, storeID, under: appKey)
  }

  /// The result of trying the app's key on the records of a store.
  package enum Unlocking {
    case unlocked(StoreKeys)
    /// No record is of this key.
    case wrongKey
    /// A record is of this key and does not open.
    case broken
  }

  /// Opens the first record that is of the app's key.
  package static func unlock(
    _ records: [KeyRecord], of storeID: StoreID, pageByteCount: Int, under cipher: any PageCipher
  ) -> Unlocking {
    let appKey = AppKey(cipher, for: storeID)
    let ours = records.filter { $0.cipher == cipher.number && $0.name == appKey.name }
    var dataKey = ByteBuffer(capacity: SealedUnit.keyByteCount)
    dataKey.append(zeros: SealedUnit.keyByteCount)
    defer { dataKey.mutableBytes.zero(0, dataKey.count) }
    for record in ours
    where record.open(
      under: appKey, storeID: storeID, pageByteCount: pageByteCount, into: dataKey.mutableBytes)
    {
      return .unlocked(StoreKeys(dataKey.bytes, record, storeID, under: appKey))
    }
    return ours.isEmpty ? .wrongKey : .broken
  }

  // MARK: Changing the app's key

  /// Seals the data key under another key of the app; returns nil if the record in use is not of
  /// the former key.
  func record(
    under new: any PageCipher, openedBy former: any PageCipher, pageByteCount: Int
  ) -> KeyRecord? {
    let record = record
    let formerKey = AppKey(former, for: storeID)
    guard record.cipher == former.number, record.name == formerKey.name else { return nil }
    var dataKey = ByteBuffer(capacity: SealedUnit.keyByteCount)
    dataKey.append(zeros: SealedUnit.keyByteCount)
    defer { dataKey.mutableBytes.zero(0, dataKey.count) }
    guard
      record.open(
        under: formerKey, storeID: storeID, pageByteCount: pageByteCount,
        into: dataKey.mutableBytes)
    else { return nil }
    return KeyRecord.make(
      dataKey: dataKey.bytes, number: record.number &+ 1, storeID: storeID,
      pageByteCount: pageByteCount, under: AppKey(new, for: storeID))
  }

  /// Takes a record for all that is written from now on.
  func use(_ record: KeyRecord) { current.withLock { $0 = record } }

  // MARK: Counting

  /// The number of seals under the data key, as far as it is known: those of openings that ended
  /// without a checkpoint are missing.
  package var sealCount: UInt64 { seals.load(ordering: .relaxed) }

  /// The number of seals from which on a store should get another data key.
  ///
  /// Nonces are drawn from 2^96, so two of that many are equal with a chance of 2^-35.
  package static let advisedSealCount: UInt64 = 1 << 31

  /// Counts seals that this opening makes.
  package func countSeals(_ count: Int = 1) { seals.add(UInt64(count), ordering: .relaxed) }

  /// Takes the number of seals from a meta slot.
  func noteSealCount(_ count: UInt64) {
    // A number beyond this limit is no count of real seals, and must not wrap around.
    _ = seals.max(min(count, Counter.limit), ordering: .relaxed)
  }

  // MARK: Pages

  private static func word(of slot: SlotNumber) -> UInt64 {
    Defect.slotUnbound.isPlanted ? 0 : UInt64(slot.rawValue)
  }

  /// The zeros behind a sealed page: the rest of its slot.
  private static let paddingByteCount = PageSize.sealByteCount - SealedUnit.addedByteCount

  /// Seals a page for a slot, and returns the stamp that its table entry has to name.
  ///
  /// The stamp is drawn anew at each write, and takes the place of the checksum. So nobody without
  /// the key can see which earlier version of a page a table entry would accept, nor make one.
  /// - Parameter check: The low half of the stamp for a page that moves, whose entry keeps it.
  package func seal(
    _ content: Bytes, keeping check: UInt32?, for slot: SlotNumber, into page: MutableBytes
  ) -> UInt64 {
    let plain = page.slice(SealedUnit.nonceByteCount, content.count)
    plain.copy(content, to: 0)
    if !Defect.stampKept.isPlanted {
      pages.fillRandom(plain.slice(PageHeader.checksumOffset, 8))
    }
    if let check { plain.store(check, at: PageHeader.checksumOffset) }
    let stamp = plain.readOnly.uint64(at: PageHeader.checksumOffset)
    let unitByteCount = page.count - Self.paddingByteCount
    page.zero(unitByteCount, Self.paddingByteCount)
    if Defect.pageWrittenPlain.isPlanted { return stamp }
    let isMoved = check != nil
    let place = isMoved && Defect.movedAsBytes.isPlanted ? SlotNumber.none : slot
    SealContext.with(.page, Self.word(of: place)) { context in
      pages.seal(plain.readOnly, context: context, into: page.slice(0, unitByteCount))
    }
    countSeals()
    if Defect.checkFromTag.isPlanted {
      return page.readOnly.uint64(at: unitByteCount - SealedUnit.tagByteCount)
    }
    return stamp
  }

  /// Opens the page in a slot; returns false, and writes nothing, if it does not open.
  package func open(_ page: Bytes, of slot: SlotNumber, into content: MutableBytes) -> Bool {
    let unitByteCount = page.count - Self.paddingByteCount
    guard page.uint32(at: unitByteCount) == 0 else { return false }
    if Defect.pageWrittenPlain.isPlanted {
      content.copy(page.slice(SealedUnit.nonceByteCount, content.count), to: 0)
      return true
    }
    let isOpen = SealContext.with(.page, Self.word(of: slot)) { context in
      pages.open(page.slice(0, unitByteCount), context: context, into: content)
    }
    if isOpen && Defect.checkFromTag.isPlanted {
      let tag = page.uint64(at: unitByteCount - SealedUnit.tagByteCount)
      content.store(tag, at: PageHeader.checksumOffset)
    }
    return isOpen || Defect.tagIgnored.isPlanted
  }
}
