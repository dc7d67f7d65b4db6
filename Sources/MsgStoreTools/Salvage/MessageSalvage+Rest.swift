import MsgStore
import PageFile
import PageFileSalvage

/// The salvage of deleted ids, waiting facts and client data, after all messages have been saved.
///
///  1. Facts of a lost message wait for it, like those of any message that is not here: when the
///     server sends it again, it gets them back.
///  2. They do not wait if the message was deleted and only an outdated page has them.
extension MessageSalvage {
  func saveRest(in store: MessageStore, _ progress: Progress) throws {
    try forEachCell(of: Schema.ids, in: store, progress) { (cursor, writer) throws(StoreError) in
      try saveDeleted(cursor, with: writer)
    }
    // Of the index. The order in which they began to wait decides which are dropped first.
    try forEachCell(of: Schema.index, in: store, progress) {
      (cursor, writer) throws(StoreError) in
      switch cursor.key.indexKind {
      case .waiting: try saveWaiting(cursor, with: writer)
      case .unneededFile: try saveUnneededFile(cursor, with: writer)
      default: 0
      }
    }
    var last: Group?
    try forEachCell(of: Schema.facts, in: store, progress) { (cursor, writer) throws(StoreError) in
      guard let parts = FactKey.parts(cursor.key) else {
        lost.add(cursor, Schema.facts, "malformed key")
        return 0
      }
      let group = Group(conversation: parts.conversation, id: parts.id)
      if group == last { return 0 }
      last = group
      return try saveLeftOver(group, cursor, with: writer)
    }
    try forEachCell(of: Schema.client, in: store, progress) { (cursor, writer) throws(StoreError) in
      try saveClientData(cursor, with: writer)
    }
    try forEachCell(of: Schema.directory, in: store, progress) {
      (cursor, writer) throws(StoreError) in
      try saveProfile(cursor, with: writer)
    }
    try forEachCell(of: Schema.retention, in: store, progress) {
      (cursor, writer) throws(StoreError) in
      try saveRetention(cursor, with: writer)
    }
    try saveOutbox(in: store, progress)
  }

  /// The message that facts belong to.
  private struct Group: Equatable {
    let conversation: UInt32
    let id: MessageID
  }

  /// Runs `body` on all cells of a tree, as many in a commit as fit; `body` returns the bytes
  /// written.
  func forEachCell(
    of tree: TreeNumber, in store: MessageStore, _ progress: Progress,
    _ body: (SalvageCursor, borrowing StoreWriter) throws(StoreError) -> Int
  ) throws {
    let cursor = source.cursor(tree)
    var hasCell = cursor.next()
    while hasCell {
      try store.write(.relaxed) { writer in
        var (count, byteCount) = (0, 0)
        while hasCell, count < Self.batchCount, byteCount < Self.batchByteCount {
          count += 1
          byteCount += try body(cursor, writer)
          hasCell = cursor.next()
        }
      }
      try progress(leaves.count(at: cursor), leaves.totalCount)
    }
    leaves.finish(cursor)
  }

  /// Returns the conversation of a cell; nil if it was deleted, or is lost with everything it had.
  func conversation(
    _ number: UInt32, _ cursor: SalvageCursor, _ tree: TreeNumber
  ) -> ConversationID? {
    if let id = saved[number] { return id }
    if cursor.isCertain, !work.swept.contains(number) {
      lost.add(cursor, tree, "its conversation is lost")
    }
    return nil
  }

  private func saveDeleted(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard let number = cursor.key.bigEndianNumber(at: 0),
      case let key = cursor.key.dropFirst(KeyEncoding.numberByteCount),
      (1...Identifier.maximumByteCount).contains(key.count), key.isValidUTF8,
      let entry = IDEntry(MessageID(key), cursor.value)
    else {
      lost.add(cursor, Schema.ids, "malformed id entry")
      return 0
    }
    guard entry == .deleted, let id = conversation(number, cursor, Schema.ids) else { return 0 }
    let message = MessageID(key)
    _ = try saving(cursor, Schema.ids) { () throws(StoreError) in
      try writer.restoreDeleted(message, in: id)
    }
    return cursor.key.count
  }

  private func saveWaiting(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard let (_, number, message) = WaitingKey.parts(cursor.key) else {
      lost.add(cursor, Schema.index, "malformed waiting entry")
      return 0
    }
    guard let id = conversation(number, cursor, Schema.index),
      try !writer.transaction.perform(try writer.transaction.restoring.isKnown(message, in: id))
    else { return 0 }
    let found = facts.facts(of: message, in: number)
    if found.kinds.isEmpty {
      if cursor.isCertain { lost.add(cursor, Schema.index, "its facts are lost") }
      return 0
    }
    return try save(found, of: message, in: id, cursor, Schema.index, with: writer)
  }

  /// Saves the facts of a message that is not here and has no waiting entry.
  private func saveLeftOver(
    _ group: Group, _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard let id = conversation(group.conversation, cursor, Schema.facts),
      try !writer.transaction.perform(try writer.transaction.restoring.isKnown(group.id, in: id))
    else { return 0 }
    let found = facts.facts(of: group.id, in: group.conversation)
    guard !found.kinds.isEmpty, !isStale(group, found, cursor) else { return 0 }
    if found.waiting == nil { report.waitingCount += 1 }
    return try save(found, of: group.id, in: id, cursor, Schema.facts, with: writer)
  }

  /// Returns true if the facts are outdated (rule 2).
  private func isStale(
    _ group: Group, _ found: SalvagedFacts.Found, _ cursor: SalvageCursor
  ) -> Bool {
    switch entry(of: group.id, in: group.conversation) {
    case .found(.deleted, _): return true
    case .found(.here(let position), _):
      return work.isTrimmed(position.place, in: group.conversation)
    case .found, .unknown: return false
    case .absent(let lsn):
      if cursor.isCertain { return false }
      guard let waiting = found.waiting else { return lsn >= cursor.lsn }
      let key = WaitingKey.key((waiting.ordinal, group.conversation, group.id))
      var value = ByteBuffer()
      switch source.value(of: key.bytes, in: Schema.index, to: &value) {
      case .absent(let lsn): return lsn >= cursor.lsn
      case .found, .unknown: return false
      }
    }
  }

  private func save(
    _ found: SalvagedFacts.Found, of message: MessageID, in conversation: ConversationID,
    _ cursor: SalvageCursor, _ tree: TreeNumber, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    var waiting = ExportedWaiting(found.waiting, found.facts, of: message, in: conversation)
    var aliases: [MessageID] = []
    for alias in waiting.aliases where alias != message && !aliases.contains(alias) {
      if try !writer.transaction.perform(
        try writer.transaction.restoring.isKnown(alias, in: conversation))
      {
        aliases.append(alias)
      }
    }
    waiting.aliases = aliases
    let complete = waiting
    _ = try saving(cursor, tree) { () throws(StoreError) in try writer.restore(complete) }
    return found.byteCount
  }

  private func saveProfile(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard let number = cursor.key.bigEndianNumber(at: 0),
      let found = savedMember(cursor)
    else {
      lost.add(cursor, Schema.directory, cursor.lostReason ?? "malformed profile")
      return 0
    }
    guard let id = names.knownMember(number) else {
      lost.add(cursor, Schema.directory, "the name of its member is lost")
      return 0
    }
    _ = try saving(cursor, Schema.directory) { () throws(StoreError) in
      var member = found
      member.member = id
      try writer.restore(member)
    }
    return cursor.value.count
  }

  /// Saves the rule of the store; those of conversations are saved with them.
  private func saveRetention(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard cursor.key.count == KeyEncoding.numberByteCount,
      let number = cursor.key.bigEndianNumber(at: 0), let record = RetentionRecord(cursor.value)
    else {
      lost.add(cursor, Schema.retention, cursor.lostReason ?? "malformed retention")
      return 0
    }
    guard number == RetentionRecord.store, let rule = record.rule else { return 0 }
    _ = try saving(cursor, Schema.retention) { () throws(StoreError) in try writer.restore(rule) }
    return cursor.value.count
  }

  /// Saves the path of a file that nothing needs; the other entries follow from attachments.
  ///
  /// An outdated page may list what was needed again later, and its attachment may be lost. So what
  /// is not certain is left out: the file stays.
  private func saveUnneededFile(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard cursor.isCertain, cursor.lostReason == nil,
      let (_, path) = FileIndex.unneededParts(cursor.key, cursor.value)
    else { return 0 }
    _ = try saving(cursor, Schema.index) { () throws(StoreError) in
      try writer.restoreUnneededFile(path)
    }
    return cursor.value.count
  }

  /// Returns the profile or the own fields at a cursor, without the name of the member.
  private func savedMember(_ cursor: SalvageCursor) -> ExportedProfile? {
    if MemberFields.member(cursor.key) != nil {
      return MemberFields(cursor.value).map { ExportedProfile($0.own, of: "") }
    }
    guard cursor.key.count == KeyEncoding.numberByteCount else { return nil }
    return ProfileRecord(cursor.value).map { ExportedProfile($0, of: "") }
  }

  private func saveClientData(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard let parts = ClientKey.parts(cursor.key), cursor.lostReason == nil else {
      lost.add(cursor, Schema.client, cursor.lostReason ?? "malformed key")
      return 0
    }
    var id: ConversationID?
    if parts.conversation != ClientKey.store {
      guard let known = conversation(parts.conversation, cursor, Schema.client) else { return 0 }
      id = known
    }
    let key = parts.key.repairedText()
    let bytes = cursor.value.array()
    _ = try saving(cursor, Schema.client) { () throws(StoreError) in
      try writer.transaction.perform(
        try writer.transaction.conversations.setSyncPosition(bytes, for: key, in: id))
    }
    return bytes.count
  }
}
