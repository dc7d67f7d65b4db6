extension PeerMessage {
  /// Decodes columns in the order of `SQLiteQuery`.
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
    editedAt = row.optionalInteger(10)
    extras = row.extras(11)
  }
}

extension PeerConversation {
  /// Decodes columns in the order of `SQLiteQuery.list`.
  init(_ row: SQLiteStatement) {
    number = row.integer(0)
    id = row.string(1)
    participants = row.strings(2)
    title = row.optionalString(3)
    lastActivity = row.optionalInteger(4)
    unreadCount = row.integer(5)
    messageCount = row.integer(6)
    previewID = row.optionalString(7)
    previewSender = row.optionalString(8)
    previewText = row.optionalString(9)
    previewTime = row.optionalInteger(10)
    previewStatus = row.optionalInteger(11)
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
  ) throws -> [PeerMessage] {
    let statement = try connection.statement(.tail)
    statement.bind(PeerMessage.number(conversation), at: 1)
    statement.bind(Int64(count), at: 2)
    return try rows(of: statement, count: count, with: connection)
  }

  func startScroll(_ conversation: Int) {
    scrolled = (conversation, nil)
  }

  func scroll(count: Int) throws -> Reading {
    let (conversation, first) = scrolled
    var last: PeerMessage?
    // The key of the first row so far is bound from memory that does not move.
    let place = first.map { SQLiteKeys([MessageKey(id: $0.id, conversation: conversation)]) }
    let reading = try reading(of: conversation) { connection in
      let rows: [PeerMessage]
      if let first, let place {
        let statement = try connection.statement(.before)
        statement.bind(PeerMessage.number(conversation), at: 1)
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

  /// Reads with two statements and no explicit transaction, which would only cost SQLite time.
  func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading {
    let connection = try current
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let older = try rows(.earlierThan, time, in: conversation, count: count / 2, connection)
      let newer = try rows(
        .notEarlierThan, time, in: conversation, count: count - count / 2, connection)
      reading.digest.fold(older, newestFirst: true, in: PeerMessage.number(conversation))
      reading.digest.fold(newer, newestFirst: false, in: PeerMessage.number(conversation))
    }
    return reading
  }

  private func rows(
    _ query: SQLiteQuery, _ time: Int64, in conversation: Int, count: Int,
    _ connection: SQLiteConnection
  ) throws -> [PeerMessage] {
    let statement = try connection.statement(query)
    statement.bind(PeerMessage.number(conversation), at: 1)
    statement.bind(Int64(count), at: 2)
    statement.bind(time, at: 3)
    return try rows(of: statement, count: count, with: connection)
  }

  func messages(_ keys: [MessageKey]) throws -> Reading {
    let connection = try current
    let keys = SQLiteKeys(keys)
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let statement = try connection.statement(.byID)
      for item in keys.items {
        keys.bindID(of: item, at: 1, to: statement)
        statement.bind(item.conversation, at: 2)
        guard try connection.step(statement) else { throw BenchError("sqlite misses a message") }
        let message = PeerMessage(statement)
        statement.reset()
        reading.digest.fold(message, in: item.conversation)
      }
    }
    return reading
  }

  func list(count: Int) throws -> Reading {
    let connection = try current
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let statement = try connection.statement(.list)
      statement.bind(Int64(count), at: 1)
      var conversations: [PeerConversation] = []
      conversations.reserveCapacity(count)
      while try connection.step(statement) { conversations.append(PeerConversation(statement)) }
      reading.digest.fold(conversations)
    }
    return reading
  }

  func openTailClose(of conversation: Int, count: Int) throws -> Reading {
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let connection = try SQLiteConnection(path: path, key: key)
      let rows = try tail(of: conversation, count: count, with: connection)
      try connection.close()
      reading.digest.fold(rows, newestFirst: true, in: PeerMessage.number(conversation))
    }
    return reading
  }

  func fingerprint(of conversation: Int) throws -> UInt64 {
    let connection = try current
    let statement = try connection.statement(.tail)
    statement.bind(PeerMessage.number(conversation), at: 1)
    statement.bind(Int64.max, at: 2)
    var sum: UInt64 = 0
    while try connection.step(statement) {
      sum &+= Fingerprint.of(PeerMessage(statement).whole)
    }
    return sum
  }

  /// Times a read of rows that come newest first and are then folded oldest first.
  @inline(__always)
  func reading(
    of conversation: Int, _ body: (SQLiteConnection) throws -> [PeerMessage]
  ) throws -> Reading {
    let connection = try current
    var reading = makeReading()
    reading.nanoseconds = try timed {
      reading.digest.fold(
        try body(connection), newestFirst: true, in: PeerMessage.number(conversation))
    }
    return reading
  }

  func rows(
    of statement: SQLiteStatement, count: Int, with connection: SQLiteConnection
  ) throws -> [PeerMessage] {
    var rows: [PeerMessage] = []
    rows.reserveCapacity(min(count, 1_000))
    while try connection.step(statement) { rows.append(PeerMessage(statement)) }
    return rows
  }
}
