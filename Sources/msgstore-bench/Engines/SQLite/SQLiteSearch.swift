/// The ways in which SQLite finds texts.
enum SQLiteSearch: CaseIterable {
  /// `LIKE` on all rows.
  case rows
  /// `LIKE` on all rows, newest first by an index on time.
  case timeIndex
  /// FTS5 with its usual tokenizer: an index of words.
  case words
  /// FTS5 with an index of runs of three characters.
  case trigrams

  var engine: EngineName {
    switch self {
    case .rows: .sqlite
    case .timeIndex: .sqliteTime
    case .words: .sqliteWords
    case .trigrams: .sqliteTrigrams
    }
  }

  var isFullText: Bool { self == .words || self == .trigrams }

  var query: SQLiteQuery { isFullText ? .searchIndex : .search }
  var queryInConversation: SQLiteQuery { isFullText ? .searchIndexIn : .searchIn }
  var count: SQLiteQuery { isFullText ? .countIndexed : .countMatches }

  var summary: String {
    switch self {
    case .rows: "LIKE"
    case .timeIndex: "LIKE, index on time"
    case .words: "FTS5 unicode61, external content, rows with rowids"
    case .trigrams: "FTS5 trigram, external content, rows with rowids"
    }
  }

  /// The schema of messages, and of what the search needs.
  ///
  /// Full-text indexes name rows by numbers, so their messages have rowids.
  var schema: String {
    switch self {
    case .rows: SQLiteQuery.schema(hasRowIDs: false)
    case .timeIndex:
      SQLiteQuery.schema(hasRowIDs: false) + "CREATE INDEX messages_time ON messages (ts);"
    case .words: Self.fullTextSchema("unicode61")
    case .trigrams: Self.fullTextSchema("trigram")
    }
  }

  /// The statement that removes what only the search needs; nil if that is nothing.
  var drop: String? {
    switch self {
    case .rows: nil
    case .timeIndex: "DROP INDEX messages_time"
    case .words, .trigrams: "DROP TABLE words"
    }
  }

  /// The text is not stored twice: the index refers to the messages.
  private static func fullTextSchema(_ tokenizer: String) -> String {
    let insert = "INSERT INTO words (rowid, text) VALUES (new.rowid, new.text);"
    let delete =
      "INSERT INTO words (words, rowid, text) VALUES ('delete', old.rowid, old.text);"
    return SQLiteQuery.schema(hasRowIDs: true)
      + """
      CREATE VIRTUAL TABLE words USING fts5 (text, content='messages', tokenize='\(tokenizer)');
      CREATE TRIGGER messages_insert AFTER INSERT ON messages BEGIN \(insert) END;
      CREATE TRIGGER messages_delete AFTER DELETE ON messages BEGIN \(delete) END;
      CREATE TRIGGER messages_edit AFTER UPDATE OF text ON messages BEGIN \(delete) \(insert) END;
      """
  }

  /// Returns a term as the queries take it.
  func argument(_ term: String) -> String {
    if isFullText { return "\"" + term.split(separator: "\"").joined(separator: "\"\"") + "\"" }
    return "%" + String(term.flatMap { "%_\\".contains($0) ? ["\\", $0] : [$0] }) + "%"
  }
}

extension SQLiteEngine: SearchEngine {
  var foldsASCIIOnly: Bool { searching == .rows || searching == .timeIndex }

  func search(_ term: String, in conversation: Int?, count: Int) throws -> Reading {
    let connection = try current
    let statement = try connection.statement(
      conversation == nil ? searching.query : searching.queryInConversation)
    statement.bind(copying: searching.argument(term), at: 1)
    var reading = makeReading()
    reading.nanoseconds = try timed {
      statement.bind(Int64(count), at: 2)
      if let conversation { statement.bind(PeerMessage.number(conversation), at: 3) }
      for row in try rows(of: statement, count: count, with: connection) {
        reading.digest.fold(row, in: row.conversation)
      }
    }
    return reading
  }

  func matchCount(_ term: String) throws -> Int {
    let connection = try current
    let statement = try connection.statement(searching.count)
    statement.bind(copying: searching.argument(term), at: 1)
    guard try connection.step(statement) else { return 0 }
    let count = Int(statement.integer(0))
    statement.reset()
    return count
  }

  /// The pages that are free when the index is gone; it is there again afterwards.
  var indexByteCount: Int {
    get throws {
      guard let drop = searching.drop else { return 0 }
      let connection = try current
      try connection.execute("BEGIN")
      try connection.execute(drop)
      let pages = try connection.statement(.freePages)
      let count = try connection.step(pages) ? Int(pages.integer(0)) : 0
      pages.reset()
      try connection.execute("ROLLBACK")
      return count * 4096
    }
  }
}
