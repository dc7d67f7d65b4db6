#if Peers
  import CLMDB

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// An open LMDB file with one tree in it.
  ///
  /// Reads use a transaction and a cursor that are kept and renewed, LMDB's fastest way.
  @safe
  final class LMDBEnvironment {
    /// Address space only; the file is as long as its contents require.
    static let mapByteCount = 64 << 30

    private let handle: OpaquePointer
    private let reader: LMDBTransaction
    private let readCursor: OpaquePointer

    /// Opens the files in a directory, creating them if they do not exist.
    init(directory: String) throws {
      var handle: OpaquePointer?
      try unsafe lmdb(mdb_env_create(&handle))
      guard let handle = unsafe handle else { throw BenchError("lmdb: no environment") }
      do {
        try unsafe lmdb(mdb_env_set_mapsize(handle, Self.mapByteCount))
        try unsafe lmdb(mdb_env_open(handle, directory, 0, 0o644))
        unsafe reader = try LMDBTransaction(handle, flags: UInt32(MDB_RDONLY))
        unsafe readCursor = try reader.openCursor()
      } catch {
        unsafe mdb_env_close(handle)
        throw error
      }
      unsafe self.handle = handle
      reader.reset()
    }

    func close() {
      unsafe mdb_cursor_close(readCursor)
      reader.abort()
      unsafe mdb_env_close(handle)
    }

    /// Sets whether a commit waits until it is on the disk.
    func use(_ durability: Durability) throws {
      try unsafe lmdb(mdb_env_set_flags(handle, UInt32(MDB_NOSYNC), durability == .full ? 0 : 1))
      if durability == .full { try sync() }
    }

    func sync() throws { try unsafe lmdb(mdb_env_sync(handle, 1)) }

    /// Reads in one transaction; the arguments of `body` must not outlive it.
    @inline(__always)
    func read<Result>(_ body: (LMDBTransaction, inout LMDBCursor) throws -> Result) throws -> Result
    {
      try reader.renew()
      defer { reader.reset() }
      var cursor = try unsafe LMDBCursor(renewing: readCursor, in: reader)
      return try body(reader, &cursor)
    }

    @inline(__always)
    func write(_ body: (LMDBTransaction) throws -> Void) throws {
      let transaction = try unsafe LMDBTransaction(handle, flags: 0)
      do { try body(transaction) } catch {
        transaction.abort()
        throw error
      }
      try transaction.commit()
    }
  }

  /// Throws LMDB's message for a code other than success.
  @inline(__always)
  private func lmdb(_ code: Int32) throws {
    guard code == MDB_SUCCESS else {
      throw BenchError("lmdb: \(unsafe String(cString: mdb_strerror(code)))")
    }
  }

  /// A transaction on the tree.
  @safe
  final class LMDBTransaction {
    private let handle: OpaquePointer
    private let tree: MDB_dbi

    @unsafe
    fileprivate init(_ environment: OpaquePointer, flags: UInt32) throws {
      var handle: OpaquePointer?
      try unsafe lmdb(mdb_txn_begin(environment, nil, flags, &handle))
      guard let handle = unsafe handle else { throw BenchError("lmdb: no transaction") }
      unsafe self.handle = handle
      var tree: MDB_dbi = 0
      try unsafe lmdb(mdb_dbi_open(handle, nil, 0, &tree))
      self.tree = tree
    }

    fileprivate func renew() throws { try unsafe lmdb(mdb_txn_renew(handle)) }
    fileprivate func reset() { unsafe mdb_txn_reset(handle) }
    fileprivate func abort() { unsafe mdb_txn_abort(handle) }
    fileprivate func commit() throws { try unsafe lmdb(mdb_txn_commit(handle)) }

    @unsafe
    fileprivate func openCursor() throws -> OpaquePointer {
      var cursor: OpaquePointer?
      try unsafe lmdb(mdb_cursor_open(handle, tree, &cursor))
      guard let cursor = unsafe cursor else { throw BenchError("lmdb: no cursor") }
      return unsafe cursor
    }

    @unsafe
    fileprivate func renew(_ cursor: OpaquePointer) throws {
      try unsafe lmdb(mdb_cursor_renew(handle, cursor))
    }

    /// Calls `body` with a cursor of a write transaction.
    func withCursor(_ body: (inout LMDBCursor) throws -> Void) throws {
      var cursor = try unsafe LMDBCursor(openCursor())
      defer { cursor.close() }
      try body(&cursor)
    }

    /// Returns the value of a key in place; the next write may move it.
    @inline(__always)
    func value(of key: LMDBBuffer) throws -> UnsafeRawBufferPointer? {
      var keyValue = unsafe key.value
      var value = unsafe MDB_val()
      let code = unsafe mdb_get(handle, tree, &keyValue, &value)
      if code == MDB_NOTFOUND { return nil }
      try lmdb(code)
      return unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    @inline(__always)
    func put(_ key: LMDBBuffer, _ value: LMDBBuffer) throws {
      var keyValue = unsafe key.value
      var valueValue = unsafe value.value
      try unsafe lmdb(mdb_put(handle, tree, &keyValue, &valueValue, 0))
    }

    /// Stores a value if the key is absent.
    ///
    /// Returns false, and changes nothing, if it is present.
    @inline(__always)
    func putIfAbsent(_ key: LMDBBuffer, _ value: LMDBBuffer) throws -> Bool {
      var keyValue = unsafe key.value
      var valueValue = unsafe value.value
      let code = unsafe mdb_put(handle, tree, &keyValue, &valueValue, UInt32(MDB_NOOVERWRITE))
      if code == MDB_KEYEXIST { return false }
      try lmdb(code)
      return true
    }

    @inline(__always)
    func remove(_ key: LMDBBuffer) throws {
      var keyValue = unsafe key.value
      try unsafe lmdb(mdb_del(handle, tree, &keyValue, nil))
    }
  }

  /// A position in the tree.
  @safe
  struct LMDBCursor {
    private let handle: OpaquePointer
    private var keyValue = unsafe MDB_val()
    private var valueValue = unsafe MDB_val()

    @unsafe
    fileprivate init(_ handle: OpaquePointer) {
      unsafe self.handle = handle
    }

    @unsafe @inline(__always)
    fileprivate init(renewing handle: OpaquePointer, in transaction: LMDBTransaction) throws {
      try unsafe transaction.renew(handle)
      unsafe self.handle = handle
    }

    fileprivate func close() { unsafe mdb_cursor_close(handle) }

    /// The key in place, valid while the cursor stays and nothing is written.
    @inline(__always)
    var key: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(start: keyValue.mv_data, count: keyValue.mv_size)
    }

    @inline(__always)
    var value: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(start: valueValue.mv_data, count: valueValue.mv_size)
    }

    /// Moves to a key, or to the first one after it.
    @inline(__always)
    mutating func seek(_ key: LMDBBuffer) throws -> Bool {
      unsafe keyValue = key.value
      return try move(MDB_SET_RANGE)
    }

    /// Moves to the last key before a key.
    @inline(__always)
    mutating func seek(before key: LMDBBuffer) throws -> Bool {
      try seek(key) ? move(MDB_PREV) : move(MDB_LAST)
    }

    @inline(__always)
    mutating func next() throws -> Bool { try move(MDB_NEXT) }

    @inline(__always)
    mutating func previous() throws -> Bool { try move(MDB_PREV) }

    @inline(__always)
    private mutating func move(_ operation: MDB_cursor_op) throws -> Bool {
      let code = unsafe mdb_cursor_get(handle, &keyValue, &valueValue, operation)
      if code == MDB_NOTFOUND { return false }
      try lmdb(code)
      return true
    }

    /// Returns true if the cursor is at a key that begins with `prefix`.
    @inline(__always)
    func isWithin(_ prefix: LMDBBuffer) -> Bool {
      let prefix = unsafe prefix.value
      return unsafe keyValue.mv_size >= prefix.mv_size
        && memcmp(keyValue.mv_data, prefix.mv_data, prefix.mv_size) == 0
    }
  }
#endif
