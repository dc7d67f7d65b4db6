import PageFile

/// The preparation of a store for use: an empty one becomes a message store, an existing one is
/// checked.
///
/// It also compares the given local member with the one that the store belongs to.
struct Opening {
  let database: Database
  let names: MemberNames
  let path: String
  let options: StoreOptions

  /// The settings found in a store.
  private struct Found {
    /// The schema version; nil if the file is empty.
    var version: UInt64?
    var localMember: UInt32?
    /// The future local member, if an earlier opening was not finished.
    var comingMember: UInt32?
    /// True if some message of the store expires.
    var expires = false
  }

  /// The result of an opening.
  struct Result {
    /// The number of the local member.
    let localMember: UInt32?
    /// True if some message of the store expires.
    let expires: Bool
  }

  /// Prepares the store.
  func run() throws(StoreError) -> Result {
    let found = try look()
    return Result(localMember: try localMember(found), expires: found.expires)
  }

  /// Prepares the store and returns the number of the local member.
  private func localMember(_ found: Found) throws(StoreError) -> UInt32? {
    guard options.access == .readWrite else { return found.localMember }
    let isFirst = found.localMember == nil && options.localMember != nil
    guard found.version != Schema.version || isFirst || found.comingMember != nil else {
      return found.localMember
    }
    return try prepare(found)
  }

  /// Returns the name of the local member.
  func member(_ number: UInt32) throws(StoreError) -> MemberID {
    try withReader { (view) throws(StoreError) in try view.member(number) }
  }

  private func withReader<R>(
    _ body: (StoreView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let transaction = try storage { () throws(PageFileError) in try database.beginRead() }
    let view = StoreView(
      source: transaction.source, names: names, dictionaries: Dictionaries(), isCommitted: true)
    return try view.within { () throws(StoreError) in try body(view) }
  }

  private func look() throws(StoreError) -> Found {
    try withReader { (view) throws(StoreError) in
      let isEmpty = Schema.treeNames.indices.allSatisfy {
        view.source.root(of: TreeNumber($0)) == .none
      }
      if isEmpty { return Found() }
      guard let version = try view.source.schemaVersion() else {
        throw .opening(.notAMessageStore(path: path))
      }
      guard version <= Schema.version else {
        throw .opening(.schemaTooNew(found: version, supported: Schema.version))
      }
      guard version >= Schema.version else {
        throw .opening(.schemaTooOld(found: version, supported: Schema.version))
      }
      var found = Found(version: version)
      found.expires = !view.expiry.isUnused
      found.localMember = try member(.localMember, view)
      if found.localMember == nil { found.comingMember = try member(.comingMember, view) }
      return found
    }
  }

  /// Returns the number of the member that a word names, which must be the member given.
  private func member(_ word: StoreWord, _ view: StoreView) throws(StoreError) -> UInt32? {
    let value = view.source[word]
    if value == 0 { return nil }
    guard let number = UInt32(exactly: value) else {
      throw view.corrupt(Schema.names, "word \(word): not a member number (\(value))")
    }
    let stored = try view.member(number)
    if let given = options.localMember, given != stored {
      throw .opening(.localMemberDiffers(stored: stored, given: given))
    }
    return number
  }

  /// Writes the settings of a new store, the new schema version, and the local member on first use.
  ///
  /// All consequences of these are written too. Long ones take several commits, of which only the
  /// last marks the opening as finished.
  private func prepare(_ found: Found) throws(StoreError) -> UInt32? {
    var found = found
    var preparation = Preparation(isCounted: found.localMember != nil)
    while try !commit(&found, &preparation) {}
    return found.localMember
  }

  /// Makes one commit; returns true if it was the last.
  private func commit(
    _ found: inout Found, _ preparation: inout Preparation
  ) throws(StoreError) -> Bool {
    let pages = try storage { () throws(PageFileError) in try database.beginWrite() }
    let source = pages.source
    let view = StoreView(
      source: source, names: names, dictionaries: Dictionaries(), isCommitted: false)
    let transaction = Transaction(
      view, localMember: found.localMember ?? found.comingMember, rules: options.rules,
      clock: options.clock)
    let isDone: Bool
    do throws(StoreError) {
      try transaction.change { () throws(StoreError) in
        if found.version != Schema.version {
          try source.setSetting(Schema.versionName, to: Schema.version)
        }
        if transaction.localMember == nil, let id = options.localMember {
          transaction.localMember = try transaction.memberNumber(of: id)
        }
      }
      isDone = try preparation.run(transaction)
      try transaction.change { () throws(StoreError) in
        if isDone {
          try finishOpening(found, transaction.localMember, source)
        } else {
          noteUnfinished(found, transaction.localMember, source)
        }
      }
      try transaction.finish()
    } catch {
      pages.rollback()
      throw error
    }
    do throws(PageFileError) {
      _ = try pages.commit(isDone ? .full : .relaxed)
    } catch {
      try raise(error)
    }
    if isDone {
      found.localMember = transaction.localMember
    } else {
      noteUnfinished(&found, transaction.localMember)
    }
    return isDone
  }

  /// Marks the opening as finished.
  private func finishOpening(
    _ found: Found, _ member: UInt32?, _ source: PageSource
  ) throws(StoreError) {
    if found.localMember == nil, let member {
      source[.localMember] = UInt64(member)
      try source.setSetting(Schema.localMemberName, to: UInt64(member))
    }
    source[.comingMember] = 0
  }

  /// Records which part of the opening is unfinished, unless it is recorded already.
  private func noteUnfinished(_ found: Found, _ member: UInt32?, _ source: PageSource) {
    var new = found
    noteUnfinished(&new, member)
    source[.comingMember] = UInt64(new.comingMember ?? 0)
  }

  private func noteUnfinished(_ found: inout Found, _ member: UInt32?) {
    found.version = Schema.version
    if found.localMember == nil { found.comingMember = member }
  }
}
