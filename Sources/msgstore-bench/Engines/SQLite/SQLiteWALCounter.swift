import CSQLite

/// Counts the bytes that a connection writes to its WAL file.
///
/// Its hook is told after each commit how many frames the file has; it takes the stead of the one
/// that checkpoints, and does the same.
@safe
final class SQLiteWALCounter {
  private(set) var byteCount: UInt64 = 0
  /// Frames of the WAL file's present life.
  private var frameCount: UInt64 = 0

  private static let pageByteCount: UInt64 = 4096
  /// When a commit leaves this many frames in the WAL file it is checkpointed: SQLite's default.
  private static let frameCountMax = 1_000

  /// The counter must live as long as the connection.
  func count(on handle: OpaquePointer?) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_wal_hook(
      handle,
      { context, handle, name, count in
        guard let context = unsafe context else { return SQLITE_OK }
        let counter = unsafe Unmanaged<SQLiteWALCounter>.fromOpaque(context).takeUnretainedValue()
        counter.add(UInt64(count))
        guard count >= SQLiteWALCounter.frameCountMax else { return SQLITE_OK }
        unsafe sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        return SQLITE_OK
      }, context)
  }

  /// A frame is a page and 24 bytes; a WAL file begun anew also writes its header of 32.
  private func add(_ frames: UInt64) {
    let isBegunAnew = frames <= frameCount || frameCount == 0
    let added = isBegunAnew ? frames : frames - frameCount
    byteCount += added * (Self.pageByteCount + 24) + (isBegunAnew ? 32 : 0)
    frameCount = frames
  }
}
