package import PageFile

/// The view through which snapshots and writers read a store: a source of pages, and the names of
/// members.
///
/// Every operation of the public types is one `within`, so that the pages it sees stay valid until
/// it is done.
///
/// Each snapshot and each writer has one object. As a value, the view took four references to hand
/// on to each reader.
package final class StoreView {
  package let source: PageSource
  package let names: MemberNames
  let dictionaries: Dictionaries
  /// True if the pages are committed, so that names read from them may be kept for others.
  let isCommitted: Bool
  /// True if dictionaries that are read are kept for others.
  var keepsDictionaries = true
  /// True once the closure that this view was made for has returned.
  ///
  /// Its pages may change from then on.
  var isOver = false
  /// The member whose own messages show the progress of the other participants.
  var localMember: UInt32?
  /// True if previews show the message before a retracted one.
  let previewsSkipRetracted: Bool
  /// The expired messages that this view passes over.
  ///
  /// A view for writing passes over none.
  var hiding = Hiding()
  /// The turns in which searches go on; nil if they need not wait for others.
  var searchTurns: Turns?

  init(
    source: PageSource, names: MemberNames, dictionaries: Dictionaries, isCommitted: Bool,
    localMember: UInt32? = nil, previewsSkipRetracted: Bool = false
  ) {
    self.source = source
    self.names = names
    self.dictionaries = dictionaries
    self.isCommitted = isCommitted
    self.localMember = localMember
    self.previewsSkipRetracted = previewsSkipRetracted
  }

  /// Returns a view of the same pages that reads everything anew, without names and dictionaries
  /// that were read before.
  package func forgetful() -> StoreView {
    StoreView(
      source: source, names: MemberNames(), dictionaries: Dictionaries(), isCommitted: isCommitted,
      localMember: localMember, previewsSkipRetracted: previewsSkipRetracted)
  }

  /// Returns another view of the same pages, with the same names and dictionaries.
  func copy() -> StoreView {
    StoreView(
      source: source, names: names, dictionaries: dictionaries, isCommitted: isCommitted,
      localMember: localMember, previewsSkipRetracted: previewsSkipRetracted)
  }

  /// Runs an operation during which no page that was handed out is freed.
  @inline(__always)
  package func within<R: ~Copyable>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try enter()
    defer { leave() }
    return try body()
  }

  /// Begins an operation, up to `leave`.
  @inline(__always)
  func enter() throws(StoreError) {
    if isOver { throw .transactionEnded }
    try storage { () throws(PageFileError) in try source.enter() }
  }

  @inline(__always)
  func leave() { source.leave() }

  /// Returns a cursor at the first cell whose key is not below `start`, or at the first cell of all
  /// if `start` is empty.
  ///
  /// A walk that is made in steps continues there.
  ///
  /// - Throws: `corruptRecord` if pages contradict each other, so that the walk would go back and
  ///   might never end.
  package func cursor(_ tree: TreeNumber, from start: [UInt8]) throws(StoreError) -> Cursor {
    var cursor = Cursor(source, tree)
    let isBelow = try Bytes.with(start) { (start) throws(StoreError) in
      try storage { () throws(PageFileError) in
        if start.count == 0 { _ = try cursor.first() } else { _ = try cursor.seek(start) }
      }
      return start.count > 0 && cursor.isAtCell && cursor.compareKey(to: start) < 0
    }
    if isBelow { throw corrupt(tree, "keys do not ascend") }
    return cursor
  }

  /// Returns the number of a member, or nil if the store does not know the member.
  @inline(never)
  package func number(of member: MemberID) throws(StoreError) -> UInt32? {
    let name = member.string
    guard (1...Identifier.maximumByteCount).contains(name.utf8.count) else { return nil }
    return try record(NameKey.member(name), in: Schema.names, "name")
  }

  /// Returns the name of a member.
  ///
  /// - Throws: `corruptRecord` if the number has no name, since only damage leaves such a
  ///   reference.
  package func member(_ number: UInt32) throws(StoreError) -> MemberID {
    if let id = names[number] { return id }
    let key = MemberKey.key(number)
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.index, appendTo: &value),
      value.bytes.isText
    else { throw corrupt(Schema.index, "member \(number): missing or malformed name") }
    let id = MemberID(value.bytes.repairedText())
    if isCommitted { names.insert(id, at: number) }
    return id
  }

  @inline(never)
  package func value(
    of key: Bytes, in tree: TreeNumber, appendTo value: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    do throws(PageFileError) {
      return try BTree(source, tree).value(of: key, appendTo: &value)
    } catch {
      try raise(error)
    }
  }

  @inline(never)
  package func corrupt(_ tree: TreeNumber, _ reason: String) -> StoreError {
    .corruptRecord(tree: Schema.name(of: tree), reason: reason)
  }
}

extension StoreView {
  package func append(_ cursor: borrowing Cursor, to value: inout ByteBuffer) throws(StoreError) {
    do throws(PageFileError) {
      try cursor.appendValue(to: &value)
    } catch {
      try raise(error)
    }
  }

  @inline(never)
  package func contains(
    _ key: borrowing ByteBuffer, in tree: TreeNumber
  ) throws(StoreError) -> Bool {
    do throws(PageFileError) {
      return try BTree(source, tree).contains(key.bytes)
    } catch {
      try raise(error)
    }
  }

  /// Reads the first key of a tree that has a prefix.
  ///
  /// Returns false if no key has it.
  @inline(never)
  func firstKey(
    _ prefix: Bytes, in tree: TreeNumber, to key: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    var cursor = Cursor(source, tree)
    try storage { () throws(PageFileError) in _ = try cursor.seek(prefix) }
    guard cursor.isAtCell, cursor.keyHasPrefix(prefix) else { return false }
    key.removeAll()
    cursor.appendKey(to: &key)
    return true
  }
}
