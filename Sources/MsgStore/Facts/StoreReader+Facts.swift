import PageFile

/// Facts about messages, walked by kind.
extension StoreReader {
  /// Runs `body` on what keys have behind a prefix, and on their values, in order.
  ///
  /// The bytes live as long as the call.
  func forEachFact(
    _ prefix: borrowing ByteBuffer,
    _ body: (_ rest: Bytes, _ value: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) {
    var cursor = Cursor(source, Schema.facts)
    var key = ByteBuffer()
    var value = ByteBuffer()
    let prefix = prefix.bytes
    try storage { () throws(PageFileError) in _ = try cursor.seek(prefix) }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix) {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key, dropping: prefix.count)
      try append(cursor, to: &value)
      try body(key.bytes, value.bytes)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// The versions of a message's text among the facts: all but the one that is shown.
  func versions(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [TextVersion] {
    var versions: [TextVersion] = []
    let prefix = FactKey.prefix(conversation, id, .version)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let version = VersionRecord.version(rest, value) else {
        throw corrupt(Schema.facts, "a version of message \"\(id)\" is no record")
      }
      versions.append(version)
    }
    return versions
  }
}

extension MessageFacts {
  /// Removes all that is known of a message beside its record.
  ///
  /// Returns how many facts there were.
  @discardableResult
  func removeFacts(of id: MessageID, in conversation: UInt32) throws(StoreError) -> Int {
    let attachmentCount = try transaction.attachments.removeAttachments(of: id, in: conversation)
    let facts = FactKey.prefix(conversation, id)
    return try attachmentCount + removeFacts(facts)
  }

  /// Removes the facts whose keys have a prefix.
  ///
  /// Returns how many there were.
  @discardableResult
  func removeFacts(_ prefix: borrowing ByteBuffer) throws(StoreError) -> Int {
    let prefix = prefix.bytes
    var count = 0
    while true {
      var cursor = Cursor(reader.source, Schema.facts)
      var key = ByteBuffer()
      try storage { () throws(PageFileError) in _ = try cursor.seek(prefix) }
      guard cursor.isAtCell, cursor.keyHasPrefix(prefix) else { return count }
      cursor.appendKey(to: &key)
      try transaction.remove(key.bytes, in: Schema.facts)
      count += 1
    }
  }

  /// Whether there are facts whose keys have a prefix.
  func hasFacts(_ prefix: borrowing ByteBuffer) throws(StoreError) -> Bool {
    var cursor = Cursor(reader.source, Schema.facts)
    let prefix = prefix.bytes
    try storage { () throws(PageFileError) in _ = try cursor.seek(prefix) }
    return cursor.isAtCell && cursor.keyHasPrefix(prefix)
  }
}
