#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The exclusive lock by which a process owns a store.
///
/// On Linux the lock belongs to the open file description (`F_OFD_SETLK`, fcntl(2)). Unlike the
/// older POSIX locks it is not lost when another descriptor of the file is closed, and it also
/// keeps apart two openers in one process. Apple's systems offer the same through `flock`. Each
/// platform must keep its kind for ever, because the two kinds do not see each other. The kernel
/// releases either kind when the process ends, so no cleanup is needed.
enum FileLock {
  #if os(Linux) || os(Android)
    // <fcntl.h> defines it under _GNU_SOURCE only, which Swift's module of that header does not
    // set.
    private static let ofdSetLock: Int32 = 37
  #endif

  /// A lock that this process has taken; a child made by `fork` inherits the list but no lock.
  private struct Held {
    let file: FileIdentity
    let process: pid_t
  }

  /// The locks that this process has taken, so that a caller who opens a store twice is told so.
  ///
  /// The kernel says only that there is an owner.
  private static let held = Locked<[Held]>([])

  static func noteLocked(_ file: FileIdentity) {
    held.withLock { $0.append(Held(file: file, process: getpid())) }
  }

  static func noteUnlocked(_ file: FileIdentity) {
    held.withLock { $0.removeAll { $0.file.isSameFile(as: file) } }
  }

  static func isLockedByThisProcess(_ file: FileIdentity) -> Bool {
    held.withLock { $0.contains { $0.file.isSameFile(as: file) && $0.process == getpid() } }
  }

  static func tryLock(_ descriptor: Int32, _ path: String) throws(PageFileError) -> Bool {
    #if os(Linux) || os(Android)
      var request = flock()
      request.l_type = Int16(F_WRLCK)
      request.l_whence = Int16(SEEK_SET)
      let result = unsafe fcntl(descriptor, ofdSetLock, &request)
    #else
      let result = flock(descriptor, LOCK_EX | LOCK_NB)
    #endif
    if result != -1 { return true }
    let code = errno
    if code == EAGAIN || code == EACCES || code == EWOULDBLOCK { return false }
    throw .ioError(call: "lock", errno: code, path: path)
  }

  /// Releases the lock.
  ///
  /// Closing the descriptor alone does not release it if a child made by `fork` has the file open.
  static func unlock(_ descriptor: Int32) {
    #if os(Linux) || os(Android)
      var request = flock()
      request.l_type = Int16(F_UNLCK)
      request.l_whence = Int16(SEEK_SET)
      _ = unsafe fcntl(descriptor, ofdSetLock, &request)
    #else
      _ = flock(descriptor, LOCK_UN)
    #endif
  }
}
