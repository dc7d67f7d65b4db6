#if Peers
  import GRDB

  /// GRDB as written by users who care for speed: a pool, records with rows decoded by hand, and
  /// cached statements where no request exists.
  ///
  /// Schema, queries and settings are those of SQLite through its C interface.
  final class GRDBEngine: Engine {
    let name = EngineName.grdb
    let directory: String
    var isExact = false
    private let cache: CacheSize
    private var pool: DatabasePool?
    private var walCounter = SQLiteWALCounter()
    private var durability = Durability.relaxed
    /// The place where `scroll` continues: the thread, and its first message so far.
    var scrolled: (conversation: Int, first: PeerMessage?) = (0, nil)
    lazy var variants: [any TailReader] = [GRDBCodableReader(self)]

    init(directory: String, cache: CacheSize) {
      self.directory = directory
      self.cache = cache
    }

    var current: DatabasePool {
      get throws {
        guard let pool else { throw BenchError("grdb: not open") }
        return pool
      }
    }

    var settings: String {
      "7.10.0 over the same SQLite, DatabasePool, schema, queries and settings as sqlite, rows "
        + "decoded by hand, cached statements; "
        + "full is synchronous=FULL on the writer, relaxed is NORMAL"
    }

    // MARK: The store

    func makePool() throws -> DatabasePool {
      var configuration = Configuration()
      let settings = SQLiteQuery.settings(cache)
      configuration.prepareDatabase { try $0.execute(sql: settings) }
      return try DatabasePool(path: "\(directory)/chat.sqlite", configuration: configuration)
    }

    func open() throws {
      let isFresh = try Files.byteCount(in: directory) == 0
      let pool = try makePool()
      if isFresh { try pool.write { try $0.execute(sql: SQLiteQuery.schema(hasRowIDs: false)) } }
      let counter = SQLiteWALCounter()
      pool.writeWithoutTransaction { unsafe counter.count(on: $0.sqliteConnection) }
      walCounter = counter
      self.pool = pool
      try use(durability)
    }

    func close() throws {
      try pool?.close()
      pool = nil
    }

    func compact() throws -> Bool {
      try current.vacuum()
      return true
    }

    func checkpoint() throws {
      _ = try current.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    func use(_ durability: Durability) throws {
      self.durability = durability
      try use(durability, on: current)
    }

    private func use(_ durability: Durability, on pool: DatabasePool) throws {
      let wanted = durability == .full ? 2 : 1
      let level = try pool.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA synchronous=\(wanted)")
        return try Int.fetchOne(database, sql: "PRAGMA synchronous")
      }
      guard level == wanted else { throw BenchError("grdb: cannot set synchronous=\(wanted)") }
    }

    var walByteCount: UInt64? { walCounter.byteCount }

    // MARK: Writing

    func put(_ conversations: [CorpusConversation]) throws {
      try current.write { database in
        for (index, conversation) in conversations.enumerated() {
          try database.run(
            .putConversation,
            [
              PeerMessage.number(index), conversation.id,
              conversation.participants.joined(separator: "\u{1F}"), conversation.title,
            ])
        }
      }
    }

    func insert(_ messages: [ChatMessage]) throws -> UInt64 {
      let pool = try current
      let drafts = messages.map(PeerDraft.init)
      return try timed { try insert(drafts, in: pool) }
    }

    private func insert(_ drafts: [PeerDraft], in pool: DatabasePool) throws {
      try pool.write { database in
        var changes: [Int64: SummaryChange] = [:]
        for (index, draft) in drafts.enumerated() {
          let message = draft.message
          try message.insert(database, onConflict: .ignore)
          guard database.changesCount == 1 else { continue }
          changes[message.conversation, default: SummaryChange(newest: index, time: message.time)]
            .add(index, time: message.time, isUnread: draft.isUnread)
        }
        for (conversation, change) in changes {
          try summarize(conversation, change, newest: drafts[change.newest], in: database)
        }
      }
    }

    private func summarize(
      _ conversation: Int64, _ change: SummaryChange, newest: PeerDraft, in database: Database
    ) throws {
      let message = newest.message
      try database.run(
        .summarize,
        [
          conversation, message.time, change.count, change.unreadCount, message.id,
          message.sender, newest.preview, message.serverTime, message.status,
        ])
      guard database.changesCount == 0 else { return }
      try database.run(.summarizeOlder, [conversation, change.count, change.unreadCount])
    }

    func acknowledge(_ message: ChatMessage) throws -> UInt64 {
      let pool = try current
      let message = PeerMessage(message)
      return try timed {
        try pool.write { database in
          try database.run(
            .acknowledgeMessage,
            [message.id, message.conversation, message.time, message.sequence, message.status])
          guard database.changesCount == 1 else {
            throw BenchError("grdb: unknown message \(message.id)")
          }
          try database.run(
            .acknowledgeSummary,
            [message.id, message.conversation, message.time, message.status])
        }
      }
    }

    func openInsertClose(_ message: ChatMessage) throws -> UInt64 {
      let drafts = [PeerDraft(message)]
      return try timed {
        let pool = try makePool()
        try use(.full, on: pool)
        try insert(drafts, in: pool)
        try pool.close()
      }
    }
  }

  extension Database {
    /// Runs a statement that returns no rows.
    func run(_ query: SQLiteQuery, _ arguments: StatementArguments) throws {
      try cachedStatement(sql: query.text).execute(arguments: arguments)
    }

    func fetchAll<Record: FetchableRecord>(
      _ query: SQLiteQuery, _ arguments: StatementArguments, as type: Record.Type = Record.self
    ) throws -> [Record] {
      try Record.fetchAll(cachedStatement(sql: query.text), arguments: arguments)
    }
  }
#endif
