#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Helpers that run system calls: they repeat interrupted calls and turn `errno` into an error that
/// names the call and the file.
package enum SystemCall {
  /// Runs a call that returns −1 on failure, repeating it while it is interrupted.
  @inline(never)
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

  /// Returns the error for a failed call.
  ///
  /// A full device and a locked device have their own cases, because callers act on them.
  package static func error(_ name: String, _ path: String, _ code: Int32) -> PageFileError {
    switch code {
    case ENOSPC, EDQUOT: .diskFull
    case EPERM, EACCES: .deviceLocked(call: name, path: path)
    default: .ioError(call: name, errno: code, path: path)
    }
  }

  /// Returns the error for a failed sync.
  ///
  /// Only a locked Apple device refuses a sync and keeps the unwritten pages. Elsewhere the same
  /// error numbers come from the write-back that the sync waited for (a network file system whose
  /// ticket has expired, a FUSE daemon). Those pages count as clean afterwards, and the next sync
  /// succeeds without them. So a refusal there, and ENOSPC and EDQUOT everywhere, is as final as
  /// EIO.
  package static func syncError(_ name: String, _ path: String, _ code: Int32) -> PageFileError {
    #if canImport(Darwin)
      if code == EPERM || code == EACCES { return .deviceLocked(call: name, path: path) }
    #endif
    return .ioError(call: name, errno: code, path: path)
  }

  /// The error number for a name that is already taken.
  package static let nameIsTaken = EEXIST
  /// The error number for a name that does not exist.
  package static let nameIsUnknown = ENOENT

  /// The error number for a full device.
  package static let noRoom = ENOSPC

  /// Returns the symbol of an error number as <errno.h> has it, or the number if it is not one that
  /// file operations return.
  package static func name(of code: Int32) -> String {
    names.first { $0.code == code }?.name ?? "errno \(code)"
  }

  /// The error numbers of file operations (POSIX.1-2017, pages of the calls), which differ among
  /// systems.
  private static let names: [(code: Int32, name: String)] = [
    (EACCES, "EACCES"), (EAGAIN, "EAGAIN"), (EBADF, "EBADF"), (EBUSY, "EBUSY"),
    (EDQUOT, "EDQUOT"), (EEXIST, "EEXIST"), (EFBIG, "EFBIG"), (EINTR, "EINTR"),
    (EINVAL, "EINVAL"), (EIO, "EIO"), (EISDIR, "EISDIR"), (ELOOP, "ELOOP"), (EMFILE, "EMFILE"),
    (EMLINK, "EMLINK"), (ENAMETOOLONG, "ENAMETOOLONG"), (ENFILE, "ENFILE"), (ENODEV, "ENODEV"),
    (ENOENT, "ENOENT"), (ENOLCK, "ENOLCK"), (ENOMEM, "ENOMEM"), (ENOSPC, "ENOSPC"),
    (ENOTDIR, "ENOTDIR"), (ENOTSUP, "ENOTSUP"), (ENXIO, "ENXIO"), (EPERM, "EPERM"),
    (EROFS, "EROFS"), (ESTALE, "ESTALE"), (ETXTBSY, "ETXTBSY"), (EXDEV, "EXDEV"),
  ]

  /// Returns the system's text for an error number.
  package static func message(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
