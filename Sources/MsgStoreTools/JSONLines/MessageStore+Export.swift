public import MsgStore
package import PageFile

extension MessageStore {
  /// The number of bytes that an export hands out at a time, give or take a line.
  private static let exportPieceByteCount = 64 << 10

  /// Writes the store to a new file as lines of JSON, while it is in use.
  ///
  /// The lines are those of `msgdump export`, described in docs/message-format.md, section 9:
  /// `restore(from:to:options:encryption:progress:)` makes a store from them. The export is of one
  /// moment. Readers and writers continue meanwhile. Memory grows only with the number of messages
  /// of one conversation, by eight bytes for each.
  ///
  /// - Parameters:
  ///   - path: The path of the file; no file may exist there. Until it is complete, it has a name
  ///     that ends with `.partial`.
  ///   - scope: The part to export.
  ///   - progress: Called at the beginning, after every 1,000 lines or so, and at the end; throwing
  ///     ends the export.
  /// - Throws: The error of `progress`; `StoreToolError`; `StoreError`: `conversation(.notFound)`
  ///   for the scope, and `storage`, with `snapshotExpired` inside if so much was written meanwhile
  ///   that the moment could not be kept. Nothing is left at the path then.
  public func export(
    to path: String, scope: ExportScope = ExportScope(),
    progress: (ExportProgress) throws -> Void = { _ in }
  ) throws {
    let (folder, name) = PosixDirectory.resolve(path)
    let directory = PosixDirectory(path: folder)
    try directory.refuseMissing(folder)
    try export(to: directory, name: name, scope: scope, progress: progress)
  }

  /// Writes the store to a new file in a directory of any kind.
  package func export(
    to directory: any StorageDirectory, name: String, scope: ExportScope = ExportScope(),
    progress: (ExportProgress) throws -> Void = { _ in }
  ) throws {
    let file = try NewFile(in: directory, name: name, work: "export", start: "{\"kind\":")
    do {
      try exportLines(of: scope, { try file.append($0) }, progress: progress)
      try file.settle()
    } catch {
      file.discard()
      throw error
    }
  }

  /// Hands out the store as lines of JSON, while it is in use; see `export(to:scope:progress:)`.
  ///
  /// - Parameters:
  ///   - scope: The part to export.
  ///   - write: Called with some 64 KiB of whole lines at a time, in their order. What it was given
  ///     is of no use if the call throws in the end.
  ///   - progress: Called at the beginning, after every 1,000 lines or so, and at the end; throwing
  ///     ends the export.
  /// - Throws: The error of `write` or `progress`; the errors of `export(to:scope:progress:)`.
  public func exportLines(
    of scope: ExportScope = ExportScope(), _ write: ([UInt8]) throws -> Void,
    progress: (ExportProgress) throws -> Void = { _ in }
  ) throws {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * Self.exportPieceByteCount)
    try StoreExport.records(
      of: self, scope: scope,
      { record in
        JSONLineWriter.append(record, to: &bytes)
        guard bytes.count >= Self.exportPieceByteCount else { return }
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
      }, progress: progress)
    if !bytes.isEmpty { try write(bytes) }
  }

  /// Writes the store to a new file without blocking the caller's thread; see
  /// `export(to:scope:progress:)`.
  ///
  /// - Parameters:
  ///   - path: The path of the file; no file may exist there.
  ///   - scope: The part to export.
  ///   - progress: Called at the beginning, after every 1,000 lines or so, and at the end.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled. Nothing is
  ///   left at the path then.
  public func export(
    to path: String, scope: ExportScope = ExportScope(),
    progress: @escaping @Sendable (ExportProgress) throws -> Void = { _ in }
  ) async throws {
    try await onThreadUntilCancelled { check in
      try self.export(to: path, scope: scope) { done in
        try check()
        try progress(done)
      }
    }
  }

  /// Hands out the store as lines of JSON without blocking the caller's thread; see
  /// `exportLines(of:_:progress:)`.
  ///
  /// - Parameters:
  ///   - scope: The part to export.
  ///   - write: Called with some 64 KiB of whole lines at a time, in their order.
  ///   - progress: Called at the beginning, after every 1,000 lines or so, and at the end.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled.
  public func exportLines(
    of scope: ExportScope = ExportScope(), _ write: @escaping @Sendable ([UInt8]) throws -> Void,
    progress: @escaping @Sendable (ExportProgress) throws -> Void = { _ in }
  ) async throws {
    try await onThreadUntilCancelled { check in
      try self.exportLines(of: scope, write) { done in
        try check()
        try progress(done)
      }
    }
  }
}
