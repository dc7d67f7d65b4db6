extension SQLiteEngine: ReplyEngine {
  func keepReplies() throws { try current.execute(SQLiteQuery.repliesSchema) }

  func replies(to key: MessageKey, count: Int) throws -> Reading {
    let keys = SQLiteKeys([key])
    return try withExtendedLifetime(keys) {
      try reading(of: key.conversation) { connection in
        let statement = try connection.statement(.replies)
        statement.bind(PeerMessage.number(key.conversation), at: 1)
        statement.bind(Int64(count), at: 2)
        keys.bindID(of: keys.items[0], at: 3, to: statement)
        return try rows(of: statement, count: count, with: connection)
      }
    }
  }
}
