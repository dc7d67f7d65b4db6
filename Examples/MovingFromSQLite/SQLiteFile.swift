import CSQLite

/// An SQLite file, opened through SQLite's C interface.
///
/// An app that has GRDB reads by `DatabaseQueue` in its place.
@safe
public final class SQLiteFile {
  private let handle: OpaquePointer

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isReadOnly: False to create the file, or to write to it.
  /// - Throws: `MoveError.sqlite`.
  public init(path: String, isReadOnly: Bool) throws {
    let flags =
      isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      let reason = unsafe String(cString: sqlite3_errstr(code))
      throw MoveError.sqlite("\(path): cannot be opened (\(reason))")
    }
    unsafe handle = opened
  }

  // Statements may outlive the file: SQLite closes it after the last of them.
  deinit { unsafe _ = sqlite3_close_v2(handle) }

  /// Runs statements that return no rows.
  ///
  /// - Throws: `MoveError.sqlite`.
  public func execute(_ text: String) throws {
    guard unsafe sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
      throw MoveError.sqlite("\(text): \(unsafe String(cString: sqlite3_errmsg(handle)))")
    }
  }

  func prepare(_ text: String) throws -> SQLiteStatement {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(handle, text, -1, &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else {
      throw MoveError.sqlite("\(text): \(unsafe String(cString: sqlite3_errmsg(handle)))")
    }
    return unsafe SQLiteStatement(prepared)
  }
}

/// A prepared statement, which may be run again and again.
///
/// Parameters count from 1 and columns from 0, as in SQLite.
@safe
final class SQLiteStatement {
  private let handle: OpaquePointer

  @unsafe
  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe _ = sqlite3_finalize(handle) }

  /// Runs the statement, and calls a closure for each row.
  func forEach(
    _ parameters: [SQLiteValue] = [], _ body: () throws -> Void
  ) throws {
    defer { unsafe _ = sqlite3_reset(handle) }
    for (index, parameter) in parameters.enumerated() { bind(parameter, at: Int32(index + 1)) }
    while true {
      let code = unsafe sqlite3_step(handle)
      guard code == SQLITE_ROW else {
        if code == SQLITE_DONE { return }
        let reason = unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
        throw MoveError.sqlite("reading: \(reason)")
      }
      try body()
    }
  }

  private func bind(_ value: SQLiteValue, at parameter: Int32) {
    switch value {
    case .integer(let number): unsafe _ = sqlite3_bind_int64(handle, parameter, number)
    case .text(let text):
      // SQLite copies the text.
      let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      unsafe _ = sqlite3_bind_text(handle, parameter, text, Int32(text.utf8.count), copies)
    }
  }

  /// Returns the integer in a column, or nil for a value of another type.
  func integer(_ column: Int32) -> Int64? {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// Returns the text in a column.
  ///
  /// A column that is declared as text may hold anything, and SQLite does not look at the bytes.
  func text(_ column: Int32) -> OldText {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return .missing
    case SQLITE_BLOB: return .notText
    default:
      guard let start = unsafe sqlite3_column_text(handle, column) else { return .missing }
      let count = Int(unsafe sqlite3_column_bytes(handle, column))
      let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
      return unsafe String(validating: bytes, as: UTF8.self).map(OldText.text) ?? .notText
    }
  }
}

/// A parameter of a statement.
enum SQLiteValue {
  case integer(Int64)
  case text(String)
}

/// The value of a column that should hold text.
enum OldText: Sendable {
  case missing
  /// Bytes that are not UTF-8.
  case notText
  case text(String)

  /// The text, or nil if there is none that can be used.
  var string: String? { if case .text(let text) = self { text } else { nil } }
}
