/// Finding the keys of an encrypted store, before anything else of it is read.
extension StoreReader {
  /// Returns the keys of a store; nil for one that is not encrypted.
  ///
  /// The record of either meta slot or WAL header will do: all hold the same data key. While the
  /// app's key is being changed, some records are of the former key.
  ///
  /// - Throws: `keyMissing`, `wrongKey`, `notEncrypted`; `corruptMeta` for a record of this key
  ///   that does not open.
  func unlock(
    _ slots: [[UInt8]], beside headers: [[UInt8]]
  ) throws(PageFileError) -> StoreKeys? {
    var locked: [MetaSlot.Locked] = []
    var hasPlain = false
    for bytes in slots {
      switch Bytes.with(bytes, { MetaSlot.read($0) }) {
      case .locked(let slot): locked.append(slot)
      case .valid: hasPlain = true
      // The rules of recovery have an error for this.
      case .unsupported: return nil
      case .foreign, .unreadable: break
      }
    }
    guard let first = locked.first else {
      // A store may be forged by somebody who does not know the key, but not an encrypted one.
      if appKey != nil, hasPlain, !Defect.plainStoreBelieved.isPlanted {
        throw .notEncrypted(path: dataFile.path)
      }
      return nil
    }
    guard let appKey else { throw .keyMissing(path: dataFile.path) }
    guard locked.allSatisfy({ $0.storeID == first.storeID }) else {
      throw .corruptMeta(reason: "the slots belong to different stores")
    }
    var records = locked.map(\.record)
    for bytes in headers {
      if let found = Bytes.with(bytes, { WALHeader.locked($0) }), found.storeID == first.storeID {
        records.append(found.record)
      }
    }
    let unlocking = StoreKeys.unlock(
      records, of: first.storeID, pageByteCount: first.pageByteCount, under: appKey)
    switch unlocking {
    case .unlocked(let keys): return keys
    case .wrongKey: throw .wrongKey(path: dataFile.path)
    case .broken: throw .corruptMeta(reason: "the key record does not open")
    }
  }
}
