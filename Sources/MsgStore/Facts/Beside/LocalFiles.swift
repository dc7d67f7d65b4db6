import PageFile

/// Keeps the list of the local files that nothing needs any more.
///
/// See docs/message-format.md, P-4 and P-5.
///
///  1. A path is needed while an attachment has it, whether its message is here, hidden, waited
///     for, or left over from a deleted conversation.
///  2. A path that the last attachment gives up is listed, until it is needed again or the client
///     confirms that the file is removed.
///  3. Every record of an attachment is written and removed in `Attachments.swift`, which says so
///     here.
///
/// Costs nothing for an attachment without a path.
extension MessageFacts {
  /// Notes that an attachment has another path, or none.
  ///
  /// The index has the new one already.
  func localPathChanged(from old: String?, to new: String?) throws(StoreError) {
    if old == nil, new == nil { return }
    if let old, let new, old.hasSameBytes(as: new) { return }
    if let new, !StoreDefect.neededFileListed.isPlanted { try unlistUnneeded(new) }
    if let old, !StoreDefect.unneededFileForgotten.isPlanted { try listUnneeded(old) }
  }

  /// Lists a path, unless an attachment needs it.
  package func listUnneeded(_ path: String) throws(StoreError) {
    if !StoreDefect.sharedFileListed.isPlanted, try view.files.isNeeded(path) { return }
    let place = try view.files.place(of: path)
    guard place.number == nil else { return }
    let key = FileIndex.unneededKey(path, place.free)
    var value = ByteBuffer()
    value.append(path)
    try transaction.insert(key.bytes, value.bytes, in: Schema.index)
    transaction.noteUnneededFiles()
  }

  /// Removes a path from the list, if it is there.
  private func unlistUnneeded(_ path: String) throws(StoreError) {
    guard let number = try view.files.place(of: path).number else { return }
    try transaction.remove(FileIndex.unneededKey(path, number), in: Schema.index)
    transaction.noteUnneededFiles()
  }

  /// Removes paths from the list whose files the client has removed; returns their number.
  func confirmRemoval(of paths: [String]) throws(StoreError) -> Int {
    var count = 0
    for path in paths where !path.isEmpty {
      guard try view.files.place(of: path).number != nil else { continue }
      // A path may tell of a message that was deleted.
      view.source.isErasing = true
      try unlistUnneeded(path)
      count += 1
    }
    return count
  }
}

extension Transaction {

  /// Notes that the list of unneeded files has changed.
  fileprivate func noteUnneededFiles() {
    if hasListeners { notes.hasUnneededFileChanges = true }
  }
}
