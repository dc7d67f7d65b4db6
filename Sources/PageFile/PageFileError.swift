/// An error of a data file and its WAL files.
///
/// Faults of the outside world are thrown. A caller's mistakes (a cursor used after its
/// transaction, an empty key) trap. The exception is `insideTransaction`: whether a call is made
/// inside a transaction may depend on other code, and an app that gets the error can continue.
///
/// The cases are kept in boxes, so that a call hands on one word.
public indirect enum PageFileError: Error, Sendable, Equatable {
  /// The file is not a data file of this format: its first bytes do not match.
  case notADatabase(path: String)
  /// The file was made by a newer version, or uses features this version does not know.
  ///
  /// Nothing was written.
  case unsupportedFormat(version: UInt32, features: UInt64)
  /// No meta slot can be trusted, or the only readable one may not be the newest.
  case corruptMeta(reason: String)
  /// A page breaks a rule.
  ///
  /// Other pages stay readable.
  case corruptPage(PageNumber, reason: String)
  /// The store is encrypted, and no key was given: the app's key is not on this device.
  ///
  /// A key that cannot be read just now is `deviceLocked`, if the app's closure says so.
  case keyMissing(path: String)
  /// A key was given that does not have 32 bytes.
  ///
  /// Nothing was read or changed.
  case invalidKey(byteCount: Int)
  /// The store is encrypted, and the key given is not its key.
  ///
  /// Nothing was changed. Somebody who alters the files can bring this about, so it is no reason to
  /// delete anything.
  case wrongKey(path: String)
  /// A key was given, and the store is not encrypted.
  ///
  /// Somebody who alters the files can put a store of their own in the place of an encrypted one.
  /// So an app must not answer this by opening or encrypting the store, except for the one time
  /// when it moves from a store without encryption.
  case notEncrypted(path: String)
  /// The store ends with the commit `found`, before the mark that was given: an earlier state of it
  /// was put back, or the end of its log was cut off.
  ///
  /// Nothing was changed. If there is no store at all, `found` is zero, and none was created.
  case rolledBack(found: LSN, expected: LSN)
  /// Commits after `lsn` that were known to be durable are missing or damaged.
  ///
  /// Nothing was written.
  case corruptWAL(lsn: LSN, reason: String)
  /// A WAL file that the data file needs is missing or belongs to another store.
  case walMismatch(reason: String)
  /// The data file is missing or empty, but its WAL files exist, or the store was open before.
  ///
  /// Nothing was created.
  case mainFileMissing(path: String)
  /// A system call failed.
  ///
  /// `errno` is the system's number for the reason.
  case ioError(call: String, errno: Int32, path: String)
  /// There is no room on the device.
  ///
  /// Nothing of the transaction was kept.
  case diskFull
  /// An earlier write or sync failed in a way that leaves the disk's contents unknown.
  ///
  /// Reads still work; to write, call `resume`, or close and reopen.
  case poisoned
  /// The commit's fate is unknown: it may or may not be there after reopening.
  case commitUnknown(LSN)
  /// Another process has the store open, or the store changed too often while it was being opened
  /// for reading.
  case busy(path: String)
  /// This process has the store open already: share the one object.
  case alreadyOpen(path: String)
  /// A write was attempted on a store that was opened for reading, or that cannot be written.
  case readOnly(reason: String)
  /// The moment that this transaction reads is no longer kept.
  ///
  /// Begin a new one.
  case snapshotExpired
  /// The device is locked, and its protected files cannot be read or written now.
  ///
  /// Try again later.
  case deviceLocked(call: String, path: String)
  /// A limit of the format or of the options would be exceeded.
  ///
  /// Nothing was changed.
  case limitExceeded(what: String, value: Int, limit: Int)
  /// The database was closed.
  case closed
  /// The database is suspended; call `resume` first.
  case suspended
  /// The file's name now refers to another file or to none, or the file was cut short.
  ///
  /// Nothing is written from then on. A database opened for reading has to be opened anew.
  case fileReplaced(path: String)
  /// This process is a child, by `fork`, of the one that opened the database.
  ///
  /// Open it anew.
  case forked
  /// A call inside a transaction would wait for that transaction, on the same thread.
  ///
  /// Nothing was done.
  case insideTransaction(call: String)
  /// An operation of the write transaction failed halfway, so the transaction cannot be committed.
  case aborted

  /// True if an error says nothing about the pages being read, but that reading cannot continue.
  ///
  /// Code that looks for damage rethrows such an error.
  var endsReading: Bool {
    switch self {
    case .snapshotExpired, .closed, .suspended, .forked, .deviceLocked: true
    // The files were closed under the reader.
    case .ioError(_, let errno, _): errno == Self.badDescriptor
    default: false
    }
  }

  /// EBADF on every platform.
  private static let badDescriptor: Int32 = 9

  /// True if a locked device refused the call, which may be tried again.
  var isRefusal: Bool {
    if case .deviceLocked = self { true } else { false }
  }
}
