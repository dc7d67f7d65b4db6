public import MsgStore
public import PageFile
import PageFileSalvage

extension MessageStore {
  /// Copies everything readable of a damaged store into a new one.
  ///
  /// The damaged files are only read, and stay as they are. The new store is sound whatever is
  /// lost. Reads the damaged data file about twice. Memory: about a fiftieth of its size, plus the
  /// contents of the log and the report.
  ///
  /// - Parameters:
  ///   - damaged: The damaged store's data file. The store should be closed.
  ///   - path: The data file of the store to make; no store may exist there. Until it is complete,
  ///     it has a name that ends with `.salvaging`.
  ///   - encryption: The source of the key of an encrypted store, under which the new one is
  ///     encrypted too; nil for a store without encryption.
  ///   - progress: Called at the beginning and the end of each phase, and in between every few
  ///     hundred pages or records; throwing ends the salvage.
  /// - Returns: The counts of what is saved and lost, and the report.
  /// - Throws: The error of `progress`; `StoreToolError`, with `changedMeanwhile` if the damaged
  ///   store was written to; `StoreError`: `storage`, with `notADatabase`, `unsupportedFormat`,
  ///   `ioError`, `keyMissing`, `invalidKey`, `wrongKey`, `notEncrypted`, or `corruptMeta` inside
  ///   if nothing can be proven, and `opening` for a schema of
  ///   another version. No store is left at the path then.
  public static func salvage(
    damaged: String, to path: String, encryption: Encryption? = nil,
    progress: (SalvageProgress) throws -> Void = { _ in }
  ) throws -> SalvageSummary {
    try salvage(
      damaged: damaged, to: path, encryption: encryption, watch: { _ in }, progress: progress)
  }

  /// Makes a new store, and tells `watch` of its files while it is not complete.
  package static func salvage(
    damaged: String, to path: String, encryption: Encryption? = nil,
    watch: @escaping NewStorePlace.Watch, progress: (SalvageProgress) throws -> Void
  ) throws -> SalvageSummary {
    try NewStorePlace.refuse(path, asFileOf: damaged, called: "the damaged store")
    let place = try NewStorePlace(path: path, work: "salvage", suffix: ".salvaging", watch: watch)
    let source: PageSalvage
    do {
      let (folder, name) = PosixDirectory.resolve(damaged)
      source = try PageSalvage(
        in: PosixDirectory(path: folder), name: name, encryption: encryption
      ) { count, total in
        try progress(SalvageProgress(stage: .reading, pageCount: count, totalPageCount: total))
      }
    } catch let error as PageFileError {
      throw StoreError.storage(error)
    }
    let saved = try place.make {
      let (folder, name) = PosixDirectory.resolve(place.temporaryPath)
      let saved = try MessageSalvage(source).run(in: PosixDirectory(path: folder), name: name) {
        count, total in
        try progress(SalvageProgress(stage: .saving, pageCount: count, totalPageCount: total))
      }
      guard !source.haveFilesChanged else {
        throw StoreToolError.changedMeanwhile(path: damaged)
      }
      return saved
    }
    return SalvageSummary(source.report, saved)
  }

  /// Copies everything readable of a damaged store into a new one without blocking the caller's
  /// thread; see `salvage(damaged:to:progress:)`.
  ///
  /// - Parameters:
  ///   - damaged: The damaged store's data file. The store should be closed.
  ///   - path: The data file of the store to make; no store may exist there.
  ///   - encryption: The source of the key of an encrypted store.
  ///   - progress: Called at the beginning and the end of each phase, and in between every few
  ///     hundred pages or records.
  /// - Returns: The counts of what is saved and lost, and the report.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled. No store is
  ///   left at the path then.
  public static func salvage(
    damaged: String, to path: String, encryption: Encryption? = nil,
    progress: @escaping @Sendable (SalvageProgress) throws -> Void = { _ in }
  ) async throws -> SalvageSummary {
    try await onThreadUntilCancelled { check in
      try salvage(damaged: damaged, to: path, encryption: encryption) { done in
        try check()
        try progress(done)
      }
    }
  }
}
