extension PageFileError: CustomStringConvertible {
  /// A sentence for people to read.
  public var description: String {
    switch self {
    case .notADatabase(let path):
      "\(path): not a data file of this format"
    case .unsupportedFormat(let version, let features):
      "the file has format version \(version) with features 0x\(String(features, radix: 16)), "
        + "which this version does not support"
    case .corruptMeta(let reason):
      "the meta slots are corrupt: \(reason)"
    case .keyMissing(let path):
      "\(path): encrypted; the key is missing"
    case .invalidKey(let byteCount):
      "the key has \(byteCount) bytes instead of 32"
    case .wrongKey(let path):
      "\(path): encrypted with another key"
    case .notEncrypted(let path):
      "\(path): not encrypted, although a key was given"
    case .rolledBack(let found, let expected):
      "the store was put back to commit \(found); commit \(expected) was there before"
    case .corruptPage(let number, let reason):
      "page \(number) is corrupt: \(reason)"
    case .corruptWAL(let lsn, let reason):
      "commits after LSN \(lsn) are missing or corrupt: \(reason)"
    case .walMismatch(let reason):
      "the WAL files do not belong to the data file: \(reason)"
    case .mainFileMissing(let path):
      "\(path): data file missing or empty"
    case .ioError(let call, let errno, let path):
      "\(path): \(call) failed: \(SystemCall.message(errno)) (\(SystemCall.name(of: errno)))"
    case .diskFull:
      "no room on the device"
    case .poisoned:
      "an earlier write failed; resume the store, or close it and open it again, to write"
    case .commitUnknown(let lsn):
      "commit \(lsn): durability unknown until the store is opened again"
    case .busy(let path):
      "\(path): in use by another process"
    case .alreadyOpen(let path):
      "\(path): already open in this process"
    case .readOnly(let reason):
      "the store cannot be written: \(reason)"
    case .snapshotExpired:
      "snapshot expired: its moment is no longer kept"
    case .deviceLocked(let call, let path):
      "\(path): \(call) refused (the device is locked, or access is not permitted)"
    case .limitExceeded(let what, let value, let limit):
      "\(what): \(value) exceeds the limit of \(limit)"
    case .closed:
      "the database was closed"
    case .suspended:
      "the database is suspended"
    case .fileReplaced(let path):
      "\(path) was renamed, removed, replaced or cut short while it was in use"
    case .forked:
      "the database was opened by the parent of this process"
    case .insideTransaction(let call):
      "\(call): would wait for the calling thread's own transaction"
    case .aborted:
      "the transaction was aborted: an operation failed, and nothing was committed"
    }
  }
}
