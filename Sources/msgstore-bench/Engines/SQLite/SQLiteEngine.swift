#if SQLCipher
  import CSQLCipher
#else
  import CSQLite
#endif

/// The raw key of files encrypted by SQLCipher, which derives nothing from it.
let sqliteKey = String(repeating: "5E", count: 32)

/// SQLite through its C interface, used as well as we know how; see `SQLiteQuery` for the schema.
///
/// WAL, a cache of 64 MiB, `mmap_size` of 1 GiB; NORMAL stands for relaxed and FULL for full.
///
/// Conversations are addressed by number, which an application has at hand, so that SQLite need not
/// look up their names. A conversation's row is updated once per transaction, not per message.
final class SQLiteEngine: Engine {
  let name: EngineName
  let directory: String
  var path: String { "\(directory)/chat.sqlite" }
  let cache: CacheSize
  /// The way in which texts are found.
  let searching: SQLiteSearch
  /// The key of encrypted files, in hexadecimal digits; nil for plain ones.
  let key: String?
  private var connection: SQLiteConnection?
  private var durability = Durability.relaxed
  var isExact = false
  /// The place where `scroll` continues: the thread, and its first row so far.
  var scrolled: (conversation: Int, first: PeerMessage?) = (0, nil)

  init(
    _ name: EngineName, directory: String, cache: CacheSize, searching: SQLiteSearch = .rows,
    key: String? = nil
  ) {
    self.name = name
    self.searching = searching
    self.key = key
    self.directory = directory
    self.cache = cache
  }

  var settings: String {
    "\(unsafe String(cString: sqlite3_libversion())), C interface, WAL, 4096 B pages, 64 MiB "
      + "cache, 1 GiB mmap, checkpoint at 1000 frames; full is synchronous=FULL, relaxed is "
      + "NORMAL; \(searching.summary)" + (key == nil ? "" : "; SQLCipher, raw key")
  }

  var current: SQLiteConnection {
    get throws {
      guard let connection else { throw BenchError("sqlite is not open") }
      return connection
    }
  }

  // MARK: The store

  func open() throws {
    let isFresh = try Files.byteCount(in: directory) == 0
    let connection = try SQLiteConnection(path: path, cache: cache, key: key, isFresh: isFresh)
    if key != nil {
      let version = try connection.statement(.cipherVersion)
      guard try connection.step(version) else {
        throw BenchError("\(name.rawValue): the library has no cipher")
      }
      version.reset()
    }
    if isFresh { try connection.execute(searching.schema) }
    self.connection = connection
    try use(durability)
  }

  func close() throws {
    try connection?.close()
    connection = nil
  }

  func checkpoint() throws { try current.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

  func compact() throws -> Bool {
    try current.execute("VACUUM")
    return true
  }

  func use(_ durability: Durability) throws {
    self.durability = durability
    try use(durability, on: current)
  }

  private func use(_ durability: Durability, on connection: SQLiteConnection) throws {
    try connection.execute("PRAGMA synchronous=\(durability == .full ? "FULL" : "NORMAL")")
  }

  var walByteCount: UInt64? {
    get throws { try current.walByteCount }
  }

  // MARK: Writing

  func put(_ conversations: [CorpusConversation]) throws {
    let connection = try current
    try connection.run(connection.statement(.begin))
    let insert = try connection.statement(.putConversation)
    for (index, conversation) in conversations.enumerated() {
      insert.bind(PeerMessage.number(index), at: 1)
      insert.bind(copying: conversation.id, at: 2)
      insert.bind(copying: conversation.participants.joined(separator: "\u{1F}"), at: 3)
      insert.bind(copying: conversation.title, at: 4)
      try connection.run(insert)
    }
    try connection.run(connection.statement(.commit))
  }

  func insert(_ messages: [ChatMessage]) throws -> UInt64 {
    let connection = try current
    let drafts = SQLiteDrafts(messages)
    return try timed { try insert(drafts, with: connection) }
  }

  private func insert(_ drafts: SQLiteDrafts, with connection: SQLiteConnection) throws {
    try connection.run(connection.statement(.begin))
    let insert = try connection.statement(.insertMessage)
    var changes: [Int64: SummaryChange] = [:]
    for (index, draft) in drafts.items.enumerated() {
      drafts.bind(draft, to: insert)
      try connection.run(insert)
      guard connection.changeCount == 1 else { continue }
      changes[draft.conversation, default: SummaryChange(newest: index, time: draft.time)]
        .add(index, time: draft.time, isUnread: draft.isUnread)
    }
    for (conversation, change) in changes {
      try summarize(conversation, change, of: drafts, with: connection)
    }
    try connection.run(connection.statement(.commit))
  }

  private func summarize(
    _ conversation: Int64, _ change: SummaryChange, of drafts: SQLiteDrafts,
    with connection: SQLiteConnection
  ) throws {
    let update = try connection.statement(.summarize)
    drafts.bindPreview(drafts.items[change.newest], to: update)
    update.bind(conversation, at: 1)
    update.bind(change.count, at: 3)
    update.bind(change.unreadCount, at: 4)
    try connection.run(update)
    guard connection.changeCount == 0 else { return }
    let older = try connection.statement(.summarizeOlder)
    older.bind(conversation, at: 1)
    older.bind(change.count, at: 2)
    older.bind(change.unreadCount, at: 3)
    try connection.run(older)
  }

  func acknowledge(_ message: ChatMessage) throws -> UInt64 {
    let connection = try current
    let drafts = SQLiteDrafts([message])
    return try timed {
      try connection.run(connection.statement(.begin))
      let move = try connection.statement(.acknowledgeMessage)
      drafts.bindAcknowledgement(drafts.items[0], to: move)
      try connection.run(move)
      guard connection.changeCount == 1 else {
        throw BenchError("sqlite does not know \(message.id)")
      }
      let summary = try connection.statement(.acknowledgeSummary)
      drafts.bindAcknowledgedSummary(drafts.items[0], to: summary)
      try connection.run(summary)
      try connection.run(connection.statement(.commit))
    }
  }

  func openInsertClose(_ message: ChatMessage) throws -> UInt64 {
    let drafts = SQLiteDrafts([message])
    return try timed {
      let connection = try SQLiteConnection(path: path, key: key, keepsWAL: false)
      try use(.full, on: connection)
      try insert(drafts, with: connection)
      try connection.close()
    }
  }
}
