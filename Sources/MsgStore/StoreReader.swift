import PageFile

/// What snapshots and writers read with: a source of pages and the names of members.
///
/// Every operation of the public types is one `within`, so that the pages it sees stay where they
/// are until it is done.
///
/// One object for each snapshot and each writer: as a value it took four references to hand it on to
/// whatever reads.
final class StoreReader {
  let source: PageSource
  let names: MemberNames
  let dictionaries: Dictionaries
  /// Whether what is read is committed, so that names may be kept for others.
  let isCommitted: Bool
  /// What the transaction has not written to the tree of messages yet; nil of a snapshot.
  var unwritten: UnwrittenMessages?
  /// Whether dictionaries that are read are kept for others.
  var keepsDictionaries = true
  /// Whether the closure that this was made for has returned: from then on its pages may be others.
  var isOver = false
  /// Whose own messages show how far the others have come with them.
  var localMember: UInt32?
  /// Whether previews show the message before one that was taken back.
  let previewsSkipDeleted: Bool

  init(
    source: PageSource, names: MemberNames, dictionaries: Dictionaries, isCommitted: Bool,
    localMember: UInt32? = nil, previewsSkipDeleted: Bool = false
  ) {
    self.source = source
    self.names = names
    self.dictionaries = dictionaries
    self.isCommitted = isCommitted
    self.localMember = localMember
    self.previewsSkipDeleted = previewsSkipDeleted
  }

  /// The same, for whoever looks at the tree of messages as it is.
  func ignoringUnwritten() -> StoreReader {
    let reader = StoreReader(
      source: source, names: names, dictionaries: dictionaries, isCommitted: isCommitted,
      localMember: localMember, previewsSkipDeleted: previewsSkipDeleted)
    reader.keepsDictionaries = keepsDictionaries
    return reader
  }

  /// The same, for whoever reads everything anew: names and dictionaries that were read before count for
  /// nothing.
  func forgetful() -> StoreReader {
    StoreReader(
      source: source, names: MemberNames(), dictionaries: Dictionaries(), isCommitted: isCommitted,
      localMember: localMember, previewsSkipDeleted: previewsSkipDeleted)
  }

  /// Runs an operation while no page that was handed out is freed.
  @inline(__always)
  func within<R: ~Copyable>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    if isOver { throw .transactionEnded }
    try storage { () throws(PageFileError) in try source.enter() }
    defer { source.leave() }
    return try body()
  }

  /// A cursor at the first cell whose key is not below `start`, or at the first of all where that is
  /// empty: there a walk goes on that is made in steps.
  ///
  /// - Throws: `corruptRecord` where pages contradict each other, so that the walk would go back and
  ///   might never end.
  func cursor(_ tree: TreeNumber, from start: [UInt8]) throws(StoreError) -> Cursor {
    var cursor = Cursor(source, tree)
    let isBelow = try Bytes.with(start) { (start) throws(StoreError) in
      try storage { () throws(PageFileError) in
        if start.count == 0 { _ = try cursor.first() } else { _ = try cursor.seek(start) }
      }
      return start.count > 0 && cursor.isAtCell && cursor.compareKey(to: start) < 0
    }
    if isBelow { throw corrupt(tree, "its keys do not ascend") }
    return cursor
  }

  /// The number that a name tree has for a name.
  func number(of name: String, in tree: TreeNumber) throws(StoreError) -> UInt32? {
    let key = KeyEncoding.key(name)
    guard (1...Identifier.byteCountMax).contains(key.count) else { return nil }
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: tree, appendTo: &value) else { return nil }
    guard value.count == 4 else { throw corrupt(tree, "a number has \(value.count) bytes") }
    return value.bytes.uint32(at: 0)
  }

  /// The name of a member.
  ///
  /// What refers to a number that has none is corrupt.
  func member(_ number: UInt32) throws(StoreError) -> MemberID {
    if let id = names[number] { return id }
    let key = KeyEncoding.key(number)
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.members, appendTo: &value),
      value.bytes.isText
    else { throw corrupt(Schema.members, "member \(number) has no name") }
    let id = MemberID(value.bytes.repairedText())
    if isCommitted { names.insert(id, at: number) }
    return id
  }

  /// The position of the last message in a conversation before a position, or at it; nil where there
  /// is none.
  func lastPosition(
    upTo limit: Position, in conversation: UInt32
  ) throws(StoreError) -> Position? {
    var cursor = MessageCursor(self)
    let key = KeyEncoding.key(conversation, limit)
    if try !cursor.seek(key.bytes) {
      guard try cursor.previous(), cursor.isIn(key.bytes.slice(0, KeyEncoding.numberByteCount))
      else { return nil }
    }
    return try cursor.position()
  }

  /// The position in the key of the message that a cursor stands at.
  func position(_ cursor: borrowing Cursor) throws(StoreError) -> Position {
    var key = ByteBuffer()
    cursor.appendKey(to: &key, dropping: KeyEncoding.numberByteCount)
    guard let position = key.bytes.position else {
      throw corrupt(Schema.messages, "a key is no position")
    }
    return position
  }

  func value(
    of key: Bytes, in tree: TreeNumber, appendTo value: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    do throws(PageFileError) {
      return try BTree(source, tree).value(of: key, appendTo: &value)
    } catch {
      throw .storage(error)
    }
  }

  func corrupt(_ tree: TreeNumber, _ reason: String) -> StoreError {
    .corruptRecord(tree: Schema.name(of: tree), reason: reason)
  }
}
