#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Running system calls: again when interrupted, and with `errno` turned into an error that names
/// the call and the file.
package enum SystemCall {
  /// Runs a call that answers −1 for a failure, again as long as it was interrupted.
  package static func run<T: SignedInteger>(
    _ name: String, _ path: String, _ body: () -> T
  ) throws(PageFileError) -> T {
    while true {
      let result = body()
      if result != -1 { return result }
      let code = errno
      if code != EINTR { throw error(name, path, code) }
    }
  }

  /// The error for a failed call.
  ///
  /// A full device and a locked one have cases of their own, because callers act on them.
  package static func error(_ name: String, _ path: String, _ code: Int32) -> PageFileError {
    switch code {
    case ENOSPC, EDQUOT: .diskFull
    case EPERM, EACCES: .deviceLocked(call: name, path: path)
    default: .ioError(call: name, errno: code, path: path)
    }
  }

  /// The error for a failed sync.
  ///
  /// Only a locked Apple device refuses a sync and keeps what was to be written. Elsewhere the same
  /// numbers come from the write-back that the sync waited for (a network file system whose ticket has
  /// expired, a daemon of FUSE): those pages count as clean afterwards, and the next sync succeeds
  /// without them. So a refusal there, and ENOSPC and EDQUOT everywhere, is as final as EIO.
  package static func syncError(_ name: String, _ path: String, _ code: Int32) -> PageFileError {
    #if canImport(Darwin)
      if code == EPERM || code == EACCES { return .deviceLocked(call: name, path: path) }
    #endif
    return .ioError(call: name, errno: code, path: path)
  }

  /// The number for a name that is not free, and that for one that nothing has.
  package static let nameIsTaken = EEXIST
  package static let nameIsUnknown = ENOENT

  /// The number for a device that is full.
  package static let noRoom = ENOSPC

  /// The system's sentence for an error number.
  package static func message(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
