import PageFile

/// What happens before a store may be used: it is made a message store if it is new, else looked at,
/// and the local member is compared with the one that it belongs to.
struct Opening {
  let database: Database
  let names: MemberNames
  let path: String
  let options: StoreOptions

  /// Returns the number of the local member.
  func run() throws(StoreError) -> UInt32? {
    let (found, stored) = try look()
    guard options.access == .readWrite else { return stored }
    let isFirst = stored == nil && options.localMember != nil
    guard found != Schema.version || isFirst else { return stored }
    return try prepare(found, stored)
  }

  /// The name of the local member.
  func member(_ number: UInt32) throws(StoreError) -> MemberID {
    try withReader { (reader) throws(StoreError) in try reader.member(number) }
  }

  private func withReader<R>(
    _ body: (StoreReader) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let transaction = try storage { () throws(PageFileError) in try database.beginRead() }
    let reader = StoreReader(
      source: transaction.source, names: names, dictionaries: Dictionaries(), isCommitted: true)
    return try reader.within { () throws(StoreError) in try body(reader) }
  }

  /// The schema version, nil where there is nothing yet, and the stored local member.
  private func look() throws(StoreError) -> (version: UInt64?, localMember: UInt32?) {
    try withReader { (reader) throws(StoreError) in
      let isEmpty = Schema.names.indices.allSatisfy {
        reader.source.root(of: TreeNumber($0)) == .none
      }
      if isEmpty { return (nil, nil) }
      guard let version = try version(reader) else { throw .notAMessageStore(path: path) }
      guard version <= Schema.version else {
        throw .schemaTooNew(found: version, supported: Schema.version)
      }
      guard version >= Schema.versionMin else {
        throw .schemaTooOld(found: version, supported: Schema.versionMin)
      }
      guard let value = try reader.source.value(of: .localMember) else { return (version, nil) }
      guard let number = UInt32(exactly: value) else {
        throw reader.corrupt(Schema.settings, "the local member's number is \(value)")
      }
      let stored = try reader.member(number)
      if let given = options.localMember, given != stored {
        throw .localMemberDiffers(stored: stored, given: given)
      }
      return (version, number)
    }
  }

  /// The schema version; nil where what is stored under that name cannot be one.
  private func version(_ reader: StoreReader) throws(StoreError) -> UInt64? {
    do throws(StoreError) {
      return try reader.source.value(of: .schemaVersion)
    } catch .corruptRecord {
      return nil
    }
  }

  /// Writes the settings of a new store, the version that the store has from now on, and the local
  /// member when it is given for the first time.
  private func prepare(
    _ version: UInt64?, _ stored: UInt32?
  ) throws(StoreError) -> UInt32? {
    let transaction = try storage { () throws(PageFileError) in try database.beginWrite() }
    let reader = StoreReader(
      source: transaction.source, names: names, dictionaries: Dictionaries(), isCommitted: false)
    let state = WriteState(
      reader, localMember: stored, rules: options.rules, clock: options.clock)
    do throws(StoreError) {
      try state.change { () throws(StoreError) in
        if version != Schema.version { try reader.source.set(.schemaVersion, to: Schema.version) }
        if stored == nil, let id = options.localMember {
          let number = try state.memberNumber(of: id)
          try reader.source.set(.localMember, to: UInt64(number))
          state.localMember = number
        }
      }
      if stored == nil { try state.recountUnread() }
      if let version, version < Schema.outboxVersion { try state.enterFormer() }
      try state.finish()
    } catch {
      transaction.rollback()
      throw error
    }
    do throws(PageFileError) {
      _ = try transaction.commit(.full)
    } catch {
      throw .storage(error)
    }
    return state.localMember
  }
}
