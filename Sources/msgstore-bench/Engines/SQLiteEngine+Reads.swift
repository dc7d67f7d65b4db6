/// A message as an application over SQLite would hold it.
struct SQLiteMessage {
  var conversation: Int64
  var isPending: Bool
  var time: Int64
  var sequence: Int64
  var id: String
  var sender: String
  var text: String
  var localTime: Int64?
  var status: UInt8
  var replyTo: String?

  /// Columns in the order of `SQLiteQuery`.
  @inline(__always)
  init(_ row: SQLiteStatement) {
    conversation = row.integer(0)
    isPending = row.integer(1) != 0
    time = row.integer(2)
    sequence = row.integer(3)
    id = row.string(4)
    sender = row.string(5)
    text = row.string(6)
    localTime = row.optionalInteger(7)
    status = UInt8(truncatingIfNeeded: row.integer(8))
    replyTo = row.optionalString(9)
  }

  var serverTime: Int64? { isPending ? nil : time }
  var serverSequence: Int64? { sequence == SQLiteQuery.noSequence ? nil : sequence }

  @inline(__always)
  func fields(in asked: Int64, isNewID: Bool) -> MessageFields {
    MessageFields(
      idByteCount: id.utf8.count, senderByteCount: sender.utf8.count,
      textByteCount: text.utf8.count, serverTime: serverTime, sequence: serverSequence,
      localTime: localTime, status: status, replyToByteCount: replyTo?.utf8.count,
      isInConversation: conversation == asked, isNewID: isNewID)
  }
}

/// A conversation as an application over SQLite would hold it.
private struct SQLiteConversation {
  var number: Int64
  var id: String
  var participants: [String]
  var title: String?
  var lastActivity: Int64?
  var unreadCount: Int
  var messageCount: Int
  var previewID: String?
  var previewSender: String?
  var previewText: String?
  var previewTime: Int64?
  var previewStatus: Int64?

  /// Columns in the order of `SQLiteQuery.list`.
  init(_ row: SQLiteStatement) {
    number = row.integer(0)
    id = row.string(1)
    participants = row.strings(2)
    title = row.optionalString(3)
    lastActivity = row.optionalInteger(4)
    unreadCount = Int(row.integer(5))
    messageCount = Int(row.integer(6))
    previewID = row.optionalString(7)
    previewSender = row.optionalString(8)
    previewText = row.optionalString(9)
    previewTime = row.optionalInteger(10)
    previewStatus = row.optionalInteger(11)
  }

  var fields: ConversationFields {
    ConversationFields(
      participantCount: participants.count,
      participantByteCount: participants.reduce(0) { $0 + $1.utf8.count },
      titleByteCount: title?.utf8.count, lastActivity: lastActivity, unreadCount: unreadCount,
      messageCount: messageCount, previewIDByteCount: previewID?.utf8.count ?? 0,
      previewSenderByteCount: previewSender?.utf8.count ?? 0,
      previewTextByteCount: previewText?.utf8.count ?? 0, previewTime: previewTime)
  }
}

extension SQLiteEngine {
  func tail(of conversation: Int, count: Int) throws -> Reading {
    try reading(of: conversation) { connection in
      try tail(of: conversation, count: count, with: connection)
    }
  }

  private func tail(
    of conversation: Int, count: Int, with connection: SQLiteConnection
  ) throws -> [SQLiteMessage] {
    let statement = try connection.statement(.tail)
    statement.bind(Self.number(conversation), at: 1)
    statement.bind(Int64(count), at: 2)
    return try rows(of: statement, count: count, with: connection)
  }

  func startScroll(_ conversation: Int) {
    scrolled = (conversation, nil)
  }

  func scroll(count: Int) throws -> Reading {
    let (conversation, first) = scrolled
    var last: SQLiteMessage?
    // The key of the first row so far is bound from memory that does not move.
    let place = first.map { SQLiteKeys([MessageKey(id: $0.id, conversation: conversation)]) }
    let reading = try reading(of: conversation) { connection in
      let rows: [SQLiteMessage]
      if let first, let place {
        let statement = try connection.statement(.before)
        statement.bind(Self.number(conversation), at: 1)
        statement.bind(Int64(count), at: 2)
        statement.bind(first.isPending ? 1 : 0, at: 3)
        statement.bind(first.time, at: 4)
        statement.bind(first.sequence, at: 5)
        place.bindID(of: place.items[0], at: 6, to: statement)
        rows = try self.rows(of: statement, count: count, with: connection)
      } else {
        rows = try tail(of: conversation, count: count, with: connection)
      }
      last = rows.last
      return rows
    }
    scrolled.first = last ?? first
    return reading
  }

  /// Two statements, outside a transaction of their own: that would only cost SQLite time.
  func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading {
    let connection = try current
    var reading = Reading()
    reading.nanoseconds = try timed {
      let older = try rows(.earlierThan, time, in: conversation, count: count / 2, connection)
      let newer = try rows(
        .notEarlierThan, time, in: conversation, count: count - count / 2, connection)
      fold(older, newestFirst: true, in: conversation, into: &reading.digest)
      fold(newer, newestFirst: false, in: conversation, into: &reading.digest)
    }
    return reading
  }

  private func rows(
    _ query: SQLiteQuery, _ time: Int64, in conversation: Int, count: Int,
    _ connection: SQLiteConnection
  ) throws -> [SQLiteMessage] {
    let statement = try connection.statement(query)
    statement.bind(Self.number(conversation), at: 1)
    statement.bind(Int64(count), at: 2)
    statement.bind(time, at: 3)
    return try rows(of: statement, count: count, with: connection)
  }

  func messages(_ keys: [MessageKey]) throws -> Reading {
    let connection = try current
    let keys = SQLiteKeys(keys)
    var reading = Reading()
    reading.nanoseconds = try timed {
      let statement = try connection.statement(.byID)
      for item in keys.items {
        keys.bindID(of: item, at: 1, to: statement)
        statement.bind(item.conversation, at: 2)
        guard try connection.step(statement) else { throw BenchError("sqlite misses a message") }
        let message = SQLiteMessage(statement)
        statement.reset()
        reading.digest.fold(message.fields(in: item.conversation, isNewID: true))
      }
    }
    return reading
  }

  func list(count: Int) throws -> Reading {
    let connection = try current
    var reading = Reading()
    reading.nanoseconds = try timed {
      let statement = try connection.statement(.list)
      statement.bind(Int64(count), at: 1)
      var conversations: [SQLiteConversation] = []
      conversations.reserveCapacity(count)
      while try connection.step(statement) { conversations.append(SQLiteConversation(statement)) }
      for conversation in conversations { reading.digest.fold(conversation.fields.mixed) }
    }
    return reading
  }

  func openTailClose(of conversation: Int, count: Int) throws -> Reading {
    var reading = Reading()
    reading.nanoseconds = try timed {
      let connection = try SQLiteConnection(path: path)
      let rows = try tail(of: conversation, count: count, with: connection)
      try connection.close()
      fold(rows, newestFirst: true, in: conversation, into: &reading.digest)
    }
    return reading
  }

  func fingerprint(of conversation: Int) throws -> UInt64 {
    let connection = try current
    let statement = try connection.statement(.tail)
    statement.bind(Self.number(conversation), at: 1)
    statement.bind(Int64.max, at: 2)
    var sum: UInt64 = 0
    while try connection.step(statement) {
      let row = SQLiteMessage(statement)
      sum &+= Fingerprint.of(
        ChatMessage(
          conversation: conversation, id: row.id, sender: row.sender, text: row.text,
          serverTime: row.serverTime, sequence: row.serverSequence, localTime: row.localTime,
          status: row.status, replyTo: row.replyTo))
    }
    return sum
  }

  /// Times a read of rows that come newest first, which are then looked at oldest first.
  @inline(__always)
  private func reading(
    of conversation: Int, _ body: (SQLiteConnection) throws -> [SQLiteMessage]
  ) throws -> Reading {
    let connection = try current
    var reading = Reading()
    reading.nanoseconds = try timed {
      fold(
        try body(connection), newestFirst: true, in: conversation, into: &reading.digest)
    }
    return reading
  }

  private func rows(
    of statement: SQLiteStatement, count: Int, with connection: SQLiteConnection
  ) throws -> [SQLiteMessage] {
    var rows: [SQLiteMessage] = []
    rows.reserveCapacity(min(count, 1_000))
    while try connection.step(statement) { rows.append(SQLiteMessage(statement)) }
    return rows
  }

  /// Looks at rows oldest first, whichever way they came.
  @inline(__always)
  private func fold(
    _ rows: [SQLiteMessage], newestFirst: Bool, in conversation: Int, into digest: inout Digest
  ) {
    let number = Self.number(conversation)
    for step in rows.indices {
      let index = newestFirst ? rows.count - 1 - step : step
      let isNewID = step == 0 || rows[index].id != rows[newestFirst ? index + 1 : index - 1].id
      digest.fold(rows[index].fields(in: number, isNewID: isNewID))
    }
  }
}
