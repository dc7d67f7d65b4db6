public import MsgStore
public import PageFile

extension MessageStore {
  /// Makes a new store from a file with lines of JSON, as an export writes them.
  ///
  /// Entries of the export's outbox are held in the new store: each may have been sent from
  /// elsewhere meanwhile. Memory is bounded, except for the ids of conversations.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - path: The data file of the store to make; no store may exist there. Until it is complete,
  ///     it has a name that ends with `.restoring`.
  ///   - options: The options of the restore.
  ///   - encryption: The source of the key of the new store; nil for one without encryption.
  ///   - progress: Called at the beginning, after each batch of lines, and after each step of the
  ///     compaction at the end; throwing ends the restore.
  /// - Returns: The number of things restored, and of things passed over.
  /// - Throws: The error of `progress`; `StoreToolError`, with `malformedLine` for the first line
  ///   at fault; `StoreError`. No store is left at the path then.
  @discardableResult
  public static func restore(
    from file: String, to path: String, options: RestoreOptions = RestoreOptions(),
    encryption: Encryption? = nil,
    progress: (RestoreProgress) throws -> Void = { _ in }
  ) throws -> RestoreSummary {
    let (folder, name) = PosixDirectory.split(file)
    let lines = try storage { () throws(PageFileError) in
      try PosixDirectory(path: folder).open(name, .read)
    }
    defer { lines.close() }
    let totalByteCount = try storage { () throws(PageFileError) in try lines.byteCount() }
    var offset = 0
    var buffer = ByteBuffer(capacity: filePieceByteCount)
    buffer.append(zeros: filePieceByteCount)
    return try restore(to: path, options: options, encryption: encryption) {
      let byteCount = try storage { () throws(PageFileError) in
        try lines.read(into: buffer.mutableBytes, at: offset)
      }
      offset += byteCount
      return buffer.bytes.slice(0, byteCount).array()
    } progress: { done in
      var done = done
      // The file may grow while it is read.
      (done.byteCount, done.totalByteCount) = (min(done.byteCount, totalByteCount), totalByteCount)
      try progress(done)
    }
  }

  /// Makes a new store from lines of JSON that come from anywhere; see
  /// `restore(from:to:options:encryption:progress:)`.
  ///
  /// - Parameters:
  ///   - path: The data file of the store to make; no store may exist there.
  ///   - options: The options of the restore.
  ///   - encryption: The source of the key of the new store; nil for one without encryption.
  ///   - read: Returns the next bytes of the lines, of any number; none at the end.
  ///   - progress: Called at the beginning, after each batch of lines, and after each step of the
  ///     compaction at the end; throwing ends the restore.
  /// - Returns: The number of things restored, and of things passed over.
  /// - Throws: The error of `read` or `progress`; the errors of
  ///   `restore(from:to:options:encryption:progress:)`. No store is left at the path then.
  @discardableResult
  public static func restore(
    to path: String, options: RestoreOptions = RestoreOptions(), encryption: Encryption? = nil,
    reading read: () throws -> [UInt8], progress: (RestoreProgress) throws -> Void = { _ in }
  ) throws -> RestoreSummary {
    try withoutActuallyEscaping(read) { read in
      var pieces = Pieces(read: read)
      return try restore(
        to: path, options: options, encryption: encryption, watch: { _ in },
        source: { buffer, offset in try pieces.fill(&buffer, from: offset) }, progress: progress)
    }
  }

  /// Makes a new store, encrypted if a key is given, and tells `watch` of its files while it is not
  /// complete.
  package static func restore(
    to path: String, options: RestoreOptions, encryption: Encryption? = nil,
    watch: @escaping NewStorePlace.Watch,
    source: @escaping LineReader.Source, progress: (RestoreProgress) throws -> Void
  ) throws -> RestoreSummary {
    let place = try NewStorePlace(path: path, work: "restore", suffix: ".restoring", watch: watch)
    return try place.make {
      let restorer = Restorer(
        isLenient: options.isLenient, numbersFromOrder: options.numbersFromOrder,
        localMember: options.localMember)
      return try restorer.restore(
        JSONRecordReader(
          isLenient: options.isLenient, ownFields: options.ownFields, source: source),
        to: { storeOptions throws(StoreError) in
          var storeOptions = storeOptions
          storeOptions.encryption = encryption
          return try MessageStore(path: place.temporaryPath, options: storeOptions)
        }, progress: progress)
    }
  }

  /// The number of bytes of the file that are read at a time.
  private static let filePieceByteCount = 256 << 10

  /// Bytes that arrive in pieces, handed on as room for them allows.
  private struct Pieces {
    let read: () throws -> [UInt8]
    private var piece: [UInt8] = []
    private var offset = 0

    init(read: @escaping () throws -> [UInt8]) { self.read = read }

    /// Puts bytes into a buffer, from an offset on; returns their number, 0 at the end.
    mutating func fill(_ buffer: inout [UInt8], from start: Int) throws -> Int {
      if offset == piece.count { (piece, offset) = (try read(), 0) }
      let count = min(piece.count - offset, buffer.count - start)
      buffer.replaceSubrange(start..<start + count, with: piece[offset..<offset + count])
      offset += count
      return count
    }
  }

  /// Makes a new store from a file with lines of JSON without blocking the caller's thread; see
  /// `restore(from:to:options:encryption:progress:)`.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - path: The data file of the store to make; no store may exist there.
  ///   - options: The options of the restore.
  ///   - encryption: The source of the key of the new store; nil for one without encryption.
  ///   - progress: Called at the beginning, after each batch of lines, and after each step of the
  ///     compaction at the end.
  /// - Returns: The number of things restored, and of things passed over.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled. No store is
  ///   left at the path then.
  @discardableResult
  public static func restore(
    from file: String, to path: String, options: RestoreOptions = RestoreOptions(),
    encryption: Encryption? = nil,
    progress: @escaping @Sendable (RestoreProgress) throws -> Void = { _ in }
  ) async throws -> RestoreSummary {
    try await onThreadUntilCancelled { check in
      try restore(from: file, to: path, options: options, encryption: encryption) { done in
        try check()
        try progress(done)
      }
    }
  }

  /// Makes a new store from lines of JSON that come from anywhere without blocking the caller's
  /// thread; see `restore(to:options:encryption:reading:progress:)`.
  ///
  /// - Parameters:
  ///   - path: The data file of the store to make; no store may exist there.
  ///   - options: The options of the restore.
  ///   - encryption: The source of the key of the new store; nil for one without encryption.
  ///   - read: Returns the next bytes of the lines, of any number; none at the end.
  ///   - progress: Called at the beginning, after each batch of lines, and after each step of the
  ///     compaction at the end.
  /// - Returns: The number of things restored, and of things passed over.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled. No store is
  ///   left at the path then.
  @discardableResult
  public static func restore(
    to path: String, options: RestoreOptions = RestoreOptions(), encryption: Encryption? = nil,
    reading read: @escaping @Sendable () throws -> [UInt8],
    progress: @escaping @Sendable (RestoreProgress) throws -> Void = { _ in }
  ) async throws -> RestoreSummary {
    try await onThreadUntilCancelled { check in
      try restore(to: path, options: options, encryption: encryption) {
        // Lines without end may have nothing to tell of.
        try check()
        return try read()
      } progress: { done in
        try check()
        try progress(done)
      }
    }
  }
}
