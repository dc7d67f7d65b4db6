package import PageFile

/// A reader of the facts about messages, by kind.
package struct FactReader {
  let view: StoreView

  /// Runs `body` on each fact whose key has a prefix, in order.
  ///
  /// The body receives the rest of the key and the value.
  ///
  /// The bytes are valid only during the call.
  package func forEachFact(
    _ prefix: borrowing ByteBuffer,
    _ body: (_ rest: Bytes, _ value: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) {
    let byteCount = prefix.count
    try view.forEachCell(with: prefix, in: Schema.facts) { (key, value) throws(StoreError) in
      try body(key.dropFirst(byteCount), value)
      return true
    }
  }

  /// Returns the versions of a message's text among the facts: all but the one that is shown.
  @inline(never)
  func versions(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [TextVersion] {
    var versions: [TextVersion] = []
    let prefix = FactKey.prefix(conversation, id, .version)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let version = VersionRecord.version(rest, value) else {
        throw view.corrupt(Schema.facts, "message \"\(id)\": malformed version")
      }
      versions.append(version)
    }
    return versions
  }
}

extension FactReader {
  /// Returns the attachments of a message, in order.
  func attachments(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [MessageAttachment] {
    try attachmentRecords(of: id, in: conversation).map(\.attachment)
  }

  /// Returns the records of a message's attachments, in order.
  @inline(never)
  func attachmentRecords(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [AttachmentRecord] {
    var records: [AttachmentRecord] = []
    let prefix = FactKey.prefix(conversation, id, .attachment)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      records.append(try view.decoded(value, at: rest))
    }
    // The keys are in the order of the ids, which decides between equal indices.
    return records.inOrder { UInt64($0.index) }
  }

  @inline(never)
  package func attachmentRecord(_ key: Bytes) throws(StoreError) -> AttachmentRecord? {
    var value = ByteBuffer()
    guard try view.value(of: key, in: Schema.facts, appendTo: &value) else { return nil }
    return try view.decoded(value.bytes, at: key)
  }

  /// Returns the receipts of members for exactly one message.
  @inline(never)
  func exactReceipts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [(member: UInt32, receipt: ExactReceipt)] {
    var found: [(member: UInt32, receipt: ExactReceipt)] = []
    let prefix = FactKey.prefix(conversation, id, .receipt)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard rest.count == 4, let member = rest.bigEndianNumber(at: 0),
        let receipt = ExactReceipt(value)
      else { throw view.corrupt(Schema.facts, "message \"\(id)\": malformed receipt") }
      found.append((member, receipt))
    }
    return found
  }
}

extension StoreView {
  package var facts: FactReader { FactReader(view: self) }
}

extension FactReader {
  /// Returns the numbers of reactions to a message with all emoji, counted one by one.
  package func reactionCounts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ReactionCounts {
    var counts = ReactionCounts()
    let prefix = FactKey.prefix(conversation, id, .reaction)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      let (member, emoji, record) = try reaction(rest, value, to: id)
      if !record.isRemoved {
        counts.add(emoji.repairedText(), isOwn: member == view.localMember)
      }
    }
    return counts
  }

  /// Decodes a reaction among the facts, given its key behind the kind.
  @inline(never)
  func reaction(
    _ rest: Bytes, _ value: Bytes, to id: MessageID
  ) throws(StoreError) -> (member: UInt32, emoji: Bytes, ReactionRecord) {
    guard let parts = ReactionRecord.parts(rest, value) else {
      throw view.corrupt(Schema.facts, "message \"\(id)\": malformed reaction")
    }
    return parts
  }

  /// Returns the reactions to a message that were not removed, by member and emoji.
  func reactions(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [Reaction] {
    var reactions: [Reaction] = []
    // A removed one belongs under another kind.
    let prefix = FactKey.prefix(conversation, id, .reaction)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      let (member, emoji, record) = try reaction(rest, value, to: id)
      if record.isRemoved { return }
      reactions.append(
        Reaction(
          emoji.repairedText(), from: try view.member(member),
          at: Timestamp(microseconds: record.time), serverName: record.serverName))
    }
    // Member numbers differ between stores; names do not.
    reactions.sort(by: Reaction.precedes)
    return reactions
  }
}

extension FactReader {
  /// Returns a batch of messages that a member is known to have read by named receipts, and the key
  /// to continue from, which is nil after the last batch.
  func exactlyRead(
    by member: UInt32, in conversation: UInt32, from start: [UInt8]?
  ) throws(StoreError) -> (found: [MessageID], next: [UInt8]?) {
    var found: [MessageID] = []
    let prefix = KeyEncoding.key(conversation)
    var cursor = try view.cursor(Schema.facts, from: start ?? prefix.bytes.array())
    var key = ByteBuffer()
    var value = ByteBuffer()
    while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      key.removeAll()
      cursor.appendKey(to: &key)
      if found.count == 64 { return (found, key.bytes.array()) }
      if let parts = FactKey.parts(key.bytes), parts.kind == .receipt,
        parts.rest.bigEndianNumber(at: 0) == member
      {
        value.removeAll()
        try view.append(cursor, to: &value)
        if ExactReceipt(value.bytes)?.isRead ?? false { found.append(parts.id) }
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return (found, nil)
  }
}
