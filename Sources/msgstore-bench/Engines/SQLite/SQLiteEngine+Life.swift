/// Operations on existing messages: reading, editing and counting.
extension SQLiteEngine {
  /// Marks all messages with one statement, since an application knows where the unread part
  /// begins.
  func markRead(
    _ messages: [ChatMessage], at time: Int64, as form: ReceiptForm
  ) throws -> UInt64 {
    guard let first = messages.first, let last = messages.last else { return 0 }
    let connection = try current
    let bound = form == .rows ? first : last
    return try timed {
      try connection.run(connection.statement(.begin))
      let put = try connection.statement(form == .rows ? .putReceipts : .putMark)
      put.bind(PeerMessage.number(last.conversation), at: 1)
      put.bind(copying: localMember, at: 2)
      put.bind(time, at: 3)
      put.bind(bound.serverTime ?? 0, at: 4)
      put.bind(bound.sequence ?? PeerMessage.noSequence, at: 5)
      try connection.run(put)
      guard connection.changeCount == (form == .rows ? messages.count : 1) else {
        throw BenchError("sqlite has marked \(connection.changeCount) of \(messages.count)")
      }
      let update = try connection.statement(.markRead)
      update.bind(PeerMessage.number(last.conversation), at: 1)
      try connection.run(update)
      try connection.run(connection.statement(.commit))
    }
  }

  func edit(_ message: ChatMessage, at time: Int64) throws -> UInt64 {
    let connection = try current
    let drafts = SQLiteDrafts([message])
    return try timed {
      try connection.run(connection.statement(.begin))
      let keep = try connection.statement(.keepText)
      drafts.bindKey(of: drafts.items[0], to: keep)
      try connection.run(keep)
      let edit = try connection.statement(.edit)
      drafts.bindKey(of: drafts.items[0], to: edit)
      drafts.bindText(drafts.items[0], to: edit)
      edit.bind(time, at: 4)
      try connection.run(edit)
      guard connection.changeCount == 1 else {
        throw BenchError("sqlite does not know \(message.id)")
      }
      let preview = try connection.statement(.editPreview)
      drafts.bindKey(of: drafts.items[0], to: preview)
      drafts.bindPreviewText(drafts.items[0], to: preview)
      try connection.run(preview)
      try connection.run(connection.statement(.commit))
    }
  }

  func react(_ reaction: ChatReaction, to message: ChatMessage) throws -> UInt64 {
    let connection = try current
    let drafts = SQLiteDrafts([message])
    return try timed {
      try connection.run(connection.statement(.begin))
      let stored = try connection.statement(.extras)
      drafts.bindKey(of: drafts.items[0], to: stored)
      guard try connection.step(stored) else {
        throw BenchError("sqlite does not know \(message.id)")
      }
      let extras = stored.extras(0) ?? MessageExtras()
      stored.reset()
      let put = try connection.statement(.putExtras)
      let packed = SQLiteArena(extras.adding(reaction).packed)
      drafts.bindKey(of: drafts.items[0], to: put)
      packed.bind(bytes: 0..<packed.count, at: 3, to: put)
      try withExtendedLifetime(packed) { try connection.run(put) }
      try connection.run(connection.statement(.commit))
    }
  }

  func receiveMark(
    of member: String, upTo message: ChatMessage, at time: Int64
  ) throws -> UInt64 {
    let connection = try current
    return try timed {
      try connection.run(connection.statement(.begin))
      let put = try connection.statement(.putMark)
      put.bind(PeerMessage.number(message.conversation), at: 1)
      put.bind(copying: member, at: 2)
      put.bind(time, at: 3)
      put.bind(message.serverTime ?? 0, at: 4)
      put.bind(message.sequence ?? PeerMessage.noSequence, at: 5)
      try connection.run(put)
      try connection.run(connection.statement(.commit))
    }
  }

  func mute(_ conversations: [Int]) throws {
    let connection = try current
    try connection.run(connection.statement(.begin))
    let mute = try connection.statement(.mute)
    for conversation in conversations {
      mute.bind(PeerMessage.number(conversation), at: 1)
      try connection.run(mute)
    }
    try connection.run(connection.statement(.commit))
  }

  func keepUnreadTotals() throws { try current.execute(SQLiteQuery.totalsSchema) }

  func unreadTotals(times: Int) throws -> Reading {
    let connection = try current
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let statement = try connection.statement(.unreadTotals)
      for _ in 0..<times {
        while try connection.step(statement) {
          reading.digest.fold(UInt64(bitPattern: statement.integer(0)))
        }
      }
    }
    return reading
  }

  func readers(of key: MessageKey, as form: ReceiptForm) throws -> [Reader] {
    try rows(of: form == .rows ? .readers : .readersByMarks, for: key) {
      Reader(member: $0.string(0), time: $0.integer(1))
    }
  }

  func earlierTexts(of key: MessageKey) throws -> [String] {
    try rows(of: .earlierTexts, for: key) { $0.string(0) }
  }

  private func rows<Row>(
    of query: SQLiteQuery, for key: MessageKey, _ body: (SQLiteStatement) -> Row
  ) throws -> [Row] {
    let connection = try current
    let statement = try connection.statement(query)
    let keys = SQLiteKeys([key])
    keys.bindID(of: keys.items[0], at: 1, to: statement)
    statement.bind(keys.items[0].conversation, at: 2)
    var rows: [Row] = []
    while try connection.step(statement) { rows.append(body(statement)) }
    return rows
  }
}
