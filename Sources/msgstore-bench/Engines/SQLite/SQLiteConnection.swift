#if SQLCipher
  import CSQLCipher
#else
  import CSQLite
#endif

/// One connection to SQLite through its C interface, with its prepared statements.
///
/// Statements are prepared at first use and kept, because a connection opened to read one tail
/// should not pay for the others. Text is bound without a copy: its bytes must stay in place until
/// the statement is reset.
@safe
final class SQLiteConnection {
  private let handle: OpaquePointer
  private var statements: [SQLiteStatement?]
  private let walCounter = SQLiteWALCounter()
  var walByteCount: UInt64 { walCounter.byteCount }

  /// Opens the file, creating it if it does not exist.
  ///
  /// A file in WAL mode stays in it, so only a fresh one has to be switched. A key has to be told
  /// before the file is touched; SQLCipher's pages of 1024 bytes would be a quarter of SQLite's.
  ///
  /// Closing keeps the WAL file or removes it. As measured, keeping it is faster by a sixth for a
  /// connection that only reads, and removing it by a third for one that commits once.
  init(
    path: String, cache: CacheSize = .normal, key: String? = nil, isFresh: Bool = false,
    keepsWAL: Bool = true
  ) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      unsafe sqlite3_close_v2(handle)
      throw BenchError("\(path): sqlite3_open_v2: \(unsafe String(cString: sqlite3_errstr(code)))")
    }
    unsafe self.handle = handle
    statements = Array(repeating: nil, count: SQLiteQuery.allCases.count)
    var flag: Int32 = keepsWAL ? 1 : 0
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
    if let key { try execute("PRAGMA key = \"x'\(key)'\"; PRAGMA cipher_page_size = 4096") }
    if isFresh { try execute("PRAGMA journal_mode=WAL") }
    try execute(SQLiteQuery.settings(cache))
    unsafe walCounter.count(on: handle)
  }

  func execute(_ text: String) throws {
    try check(unsafe sqlite3_exec(handle, text, nil, nil, nil), text)
  }

  func statement(_ query: SQLiteQuery) throws -> SQLiteStatement {
    if let statement = statements[query.rawValue] { return statement }
    var prepared: OpaquePointer?
    #if SQLCipher
      let code = unsafe sqlite3_prepare_v2(handle, query.text, -1, &prepared, nil)
    #else
      let code = unsafe sqlite3_prepare_v3(
        handle, query.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    #endif
    try check(code, query.text)
    guard let prepared = unsafe prepared else { throw BenchError("sqlite: empty statement") }
    let statement = unsafe SQLiteStatement(handle: prepared)
    statements[query.rawValue] = statement
    return statement
  }

  /// Runs a statement that returns no rows.
  func run(_ statement: SQLiteStatement) throws {
    let code = statement.step()
    statement.reset()
    guard code == SQLITE_DONE else { return try check(code, "step") }
  }

  /// Advances to the next row.
  ///
  /// Returns false at the end.
  @inline(__always)
  func step(_ statement: SQLiteStatement) throws -> Bool {
    let code = statement.step()
    if code == SQLITE_ROW { return true }
    statement.reset()
    guard code == SQLITE_DONE else {
      try check(code, "step")
      return false
    }
    return false
  }

  /// The number of rows that the last statement changed.
  var changeCount: Int { Int(unsafe sqlite3_changes(handle)) }

  private func check(_ code: Int32, _ what: String) throws {
    guard code == SQLITE_OK else {
      throw BenchError("sqlite: \(unsafe String(cString: sqlite3_errmsg(handle))): \(what)")
    }
  }

  func close() throws {
    for statement in statements { statement?.finalize() }
    statements = []
    let code = unsafe sqlite3_close(handle)
    guard code == SQLITE_OK else {
      throw BenchError("sqlite3_close: \(unsafe String(cString: sqlite3_errstr(code)))")
    }
  }
}

/// A prepared statement.
///
/// Parameters count from 1 and columns from 0, as in SQLite.
@safe
struct SQLiteStatement {
  private let handle: OpaquePointer

  @unsafe
  init(handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  @inline(__always)
  func step() -> Int32 { unsafe sqlite3_step(handle) }

  @inline(__always)
  func reset() { unsafe _ = sqlite3_reset(handle) }

  func finalize() { unsafe _ = sqlite3_finalize(handle) }

  @inline(__always)
  func bind(_ value: Int64, at parameter: Int32) {
    unsafe _ = sqlite3_bind_int64(handle, parameter, value)
  }

  @inline(__always)
  func bind(_ value: Int64?, at parameter: Int32) {
    guard let value else { return bindNull(at: parameter) }
    bind(value, at: parameter)
  }

  func bindNull(at parameter: Int32) {
    unsafe _ = sqlite3_bind_null(handle, parameter)
  }

  /// Binds text without copying; the bytes must not move before the statement is reset.
  @unsafe @inline(__always)
  func bind(_ text: UnsafeRawBufferPointer, at parameter: Int32) {
    let bytes = unsafe text.baseAddress?.assumingMemoryBound(to: CChar.self)
    unsafe _ = sqlite3_bind_text(handle, parameter, bytes, Int32(text.count), nil)
  }

  /// Binds bytes without copying; they must not move before the statement is reset.
  @unsafe @inline(__always)
  func bind(bytes: UnsafeRawBufferPointer, at parameter: Int32) {
    unsafe _ = sqlite3_bind_blob(handle, parameter, bytes.baseAddress, Int32(bytes.count), nil)
  }

  /// Binds text that SQLite copies.
  ///
  /// Not for timed work.
  func bind(copying text: String?, at parameter: Int32) {
    guard let text else { return bindNull(at: parameter) }
    let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    unsafe _ = sqlite3_bind_text(handle, parameter, text, Int32(text.utf8.count), copying)
  }

  @inline(__always)
  func integer(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(handle, column)
  }

  @inline(__always)
  func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  @inline(__always)
  func optionalInteger(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  @inline(__always)
  func string(_ column: Int32) -> String {
    optionalString(column) ?? ""
  }

  /// Returns the mentions, reactions and attachments of a message.
  @inline(__always)
  func extras(_ column: Int32) -> MessageExtras? {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe MessageExtras(packed: UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Returns the parts of a text between unit separators.
  func strings(_ column: Int32) -> [String] {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return [] }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe UnsafeBufferPointer(start: start, count: count).split(separator: 0x1F)
      .map { unsafe String(decoding: $0, as: UTF8.self) }
  }

  @inline(__always)
  func optionalString(_ column: Int32) -> String? {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
