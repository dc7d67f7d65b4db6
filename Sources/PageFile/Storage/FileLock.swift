#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The one exclusive lock by which a process owns a store.
///
/// Linux has locks that belong to the open file description (`F_OFD_SETLK`, fcntl(2)): they are not
/// lost when some other descriptor of the file is closed, as the older POSIX locks are, and they
/// also keep two openers in one process apart. Apple's systems offer the same through `flock`. One
/// kind per platform, for ever: two kinds would not see each other. The kernel frees either when the
/// process ends, so nobody has to clean up.
enum FileLock {
  #if os(Linux) || os(Android)
    // The number is in <fcntl.h> behind _GNU_SOURCE, where Swift's module of it does not look.
    private static let ofdSetLock: Int32 = 37
  #endif

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

  /// Lets go of the lock.
  ///
  /// Closing alone does not where a child by `fork` has the file open, too.
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
