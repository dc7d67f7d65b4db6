#if SQLCipher
  import CSQLCipher
#else
  import CSQLite
#endif

/// Counts the bytes that a connection writes to its WAL file.
///
/// Its hook receives the number of frames in the file after each commit. It replaces SQLite's hook
/// that checkpoints, and does the same.
@safe
final class SQLiteWALCounter {
  private(set) var byteCount: UInt64 = 0
  /// The number of frames in the current generation of the WAL file.
  private var frameCount: UInt64 = 0

  private static let pageByteCount: UInt64 = 4096
  /// The number of frames in the WAL file at which a commit starts a checkpoint: SQLite's default.
  private static let maximumFrameCount = 1_000

  /// Installs the hook on a connection, which the counter must outlive.
  func count(on handle: OpaquePointer?) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_wal_hook(
      handle,
      { context, handle, name, count in
        guard let context = unsafe context else { return SQLITE_OK }
        let counter = unsafe Unmanaged<SQLiteWALCounter>.fromOpaque(context).takeUnretainedValue()
        counter.add(UInt64(count))
        guard count >= SQLiteWALCounter.maximumFrameCount else { return SQLITE_OK }
        unsafe sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        return SQLITE_OK
      }, context)
  }

  /// Adds frames to the count.
  ///
  /// A frame is a page and 24 bytes; a restarted WAL file also writes its header of 32.
  private func add(_ frames: UInt64) {
    let isBegunAnew = frames <= frameCount || frameCount == 0
    let added = isBegunAnew ? frames : frames - frameCount
    byteCount += added * (Self.pageByteCount + 24) + (isBegunAnew ? 32 : 0)
    frameCount = frames
  }
}
