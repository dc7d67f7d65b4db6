/// Everything that can go wrong in a data file and its WAL files.
///
/// The world's faults are thrown; a caller's mistakes (a cursor used after its transaction, a key
/// that is empty) trap, but for `insideTransaction`: whether a call is made inside a transaction may
/// depend on what other code does, and an app that is told so can go on.
public enum PageFileError: Error, Sendable, Hashable {
  /// The file is not a data file of this format: its first bytes are something else.
  case notADatabase(path: String)
  /// The file was made by a newer version, or uses features this one does not know. Nothing was
  /// written.
  case unsupportedFormat(version: UInt32, features: UInt64)
  /// No meta slot can be believed, or the only readable one may not be the newest.
  case corruptMeta(reason: String)
  /// A page breaks a rule. Other pages stay readable.
  case corruptPage(PageNumber, reason: String)
  /// Commits that were known to be durable are missing or damaged after `lsn`. Nothing was written.
  case corruptWAL(lsn: LSN, reason: String)
  /// A WAL file that the data file needs is missing or belongs to another store.
  case walMismatch(reason: String)
  /// The data file is missing or empty, but its WAL files are there, or the store was open before.
  /// Nothing was created.
  case mainFileMissing(path: String)
  /// A system call failed. `errno` is the system's number for the reason.
  case ioError(call: String, errno: Int32, path: String)
  /// There is no room on the device. Nothing of the transaction was kept.
  case diskFull
  /// An earlier write or sync failed in a way that leaves the disk's content unknown. Reads go on;
  /// `resume`, or close and open again, to write.
  case poisoned
  /// The commit's fate is unknown: it may or may not be there after reopening.
  case commitUnknown(LSN)
  /// Another process, or this one, has the store open already, or it changed too often while it was being opened for reading.
  case busy(path: String)
  /// A write was asked of a store that was opened for reading, or that cannot be written.
  case readOnly(reason: String)
  /// The moment this transaction reads is no longer kept. Begin a new one.
  case snapshotExpired
  /// The device is locked and its protected files cannot be read or written now. Try again later.
  case deviceLocked(call: String, path: String)
  /// A limit of the format or of the options would be passed. Nothing was changed.
  case limitExceeded(what: String, value: Int, limit: Int)
  /// The database was closed.
  case closed
  /// The database is suspended; `resume` first.
  case suspended
  /// The file of this name is another one than was opened, or has none any more. Nothing is written
  /// from then on.
  case fileReplaced(path: String)
  /// This process is a child, by `fork`, of the one that opened the database. Open it anew.
  case forked
  /// A call was made inside a transaction of the same thread that it would wait for. Nothing was done.
  case insideTransaction(call: String)
  /// An operation of the write transaction failed half-way, so that it cannot be committed.
  case aborted

  /// Whether an error says nothing about the pages that are read, but that reading has come to its end:
  /// who looks for damage throws it on.
  var endsReading: Bool {
    switch self {
    case .snapshotExpired, .closed, .suspended, .forked, .deviceLocked: true
    // The files were closed under the reader.
    case .ioError(_, let errno, _): errno == Self.badDescriptor
    default: false
    }
  }

  /// EBADF, everywhere.
  private static let badDescriptor: Int32 = 9

  /// Whether a locked device has turned a call away, which may be tried again.
  var isRefusal: Bool {
    if case .deviceLocked = self { true } else { false }
  }
}
