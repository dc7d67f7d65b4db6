import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file in the operating system's file system.
///
/// Transfers are positioned (`pread`, `pwrite`) and repeated until all bytes are transferred,
/// because the system may transfer fewer than requested. `mmap` is not used, because it reports an
/// I/O error as a signal.
package final class PosixFile: StorageFile {
  package let path: String
  private let descriptor: Int32
  private let holdsLock = Atomic<Bool>(false)

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  package func identity() throws(PageFileError) -> FileIdentity {
    var status = stat()
    _ = try SystemCall.run("fstat", path) { unsafe fstat(descriptor, &status) }
    return FileIdentity(status)
  }

  package func byteCount() throws(PageFileError) -> Int {
    let end = try SystemCall.run("lseek", path) { Int(lseek(descriptor, 0, SEEK_END)) }
    return end
  }

  package func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    var done = 0
    while done < target.count {
      let part = target.slice(done, target.count - done)
      let moved = try SystemCall.run("pread", path) {
        unsafe part.withUnsafeMutableBytes { buffer in
          unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset + done))
        }
      }
      if moved == 0 { break }
      done += moved
    }
    return done
  }

  package func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    var done = 0
    while done < bytes.count {
      let part = bytes.dropFirst(done)
      let (moved, code) = unsafe part.withUnsafeBytes { buffer in
        let moved = unsafe pwrite(
          descriptor, buffer.baseAddress, buffer.count, off_t(offset + done))
        return (moved, errno)
      }
      if moved == -1 && code == EINTR { continue }
      // Only an error before the first byte may claim that nothing was written.
      if moved == -1 {
        throw done == 0
          ? SystemCall.error("pwrite", path, code)
          : .ioError(call: "pwrite", errno: code, path: path)
      }
      // A write that transfers nothing would be repeated for ever.
      if moved == 0 { throw .ioError(call: "pwrite", errno: EIO, path: path) }
      done += moved
    }
  }

  package func extend(to byteCount: Int) throws(PageFileError) {
    let current = try self.byteCount()
    guard byteCount > current else { return }
    #if canImport(Darwin)
      var request = fstore_t(
        fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
        fst_length: off_t(byteCount - current), fst_bytesalloc: 0)
      while unsafe fcntl(descriptor, F_PREALLOCATE, &request) == -1 {
        let code = errno
        if code == EINTR { continue }
        // exFAT, SMB, and NFS do not have the call.
        if code == ENOTSUP || code == EOPNOTSUPP || code == EINVAL {
          return try extendWithZeros(from: current, to: byteCount)
        }
        throw SystemCall.error("fcntl(F_PREALLOCATE)", path, code)
      }
      _ = try SystemCall.run("ftruncate", path) { ftruncate(descriptor, off_t(byteCount)) }
    #else
      while true {
        // The call returns the error number instead of setting `errno`.
        let code = posix_fallocate(descriptor, off_t(current), off_t(byteCount - current))
        if code == 0 { return }
        if code == EINTR { continue }
        _ = try? SystemCall.run("ftruncate", path) { ftruncate(descriptor, off_t(current)) }
        throw SystemCall.error("posix_fallocate", path, code)
      }
    #endif
  }

  /// Extends the file by writing zeros, where the system cannot allocate blocks without a write.
  ///
  /// `posix_fallocate` of glibc does the same. A longer file without blocks would not do: a later
  /// commit would be the first to find out that the disk is full.
  func extendWithZeros(from current: Int, to byteCount: Int) throws(PageFileError) {
    do {
      try writeZeros(self, from: current, to: byteCount)
    } catch {
      _ = try? SystemCall.run("ftruncate", path) { ftruncate(descriptor, off_t(current)) }
      throw error
    }
  }

  package func truncate(to byteCount: Int) throws(PageFileError) {
    _ = try SystemCall.run("ftruncate", path) { ftruncate(descriptor, off_t(byteCount)) }
  }

  package func sync() throws(PageFileError) {
    #if canImport(Darwin)
      // Not F_BARRIERFSYNC: see `Checkpointer.publish`. And no fallback to `fsync` if the file
      // system lacks F_FULLFSYNC: `fsync` would promise durability without providing it.
      if fcntl(descriptor, F_FULLFSYNC) == -1 {
        let code = errno
        throw SystemCall.syncError("fcntl(F_FULLFSYNC)", path, code)
      }
    #else
      // Not repeated on EINTR: after any failure the disk's content is unknown.
      if fdatasync(descriptor) != 0 {
        let code = errno
        throw SystemCall.syncError("fdatasync", path, code)
      }
    #endif
  }

  package func tryLock() throws(PageFileError) -> Bool {
    guard try FileLock.tryLock(descriptor, path) else { return false }
    holdsLock.store(true, ordering: .relaxed)
    if let identity = try? identity() { FileLock.noteLocked(identity) }
    return true
  }

  package var isLockedByThisProcess: Bool {
    (try? identity()).map(FileLock.isLockedByThisProcess) ?? false
  }

  package func takeAccess(of other: any StorageFile) {
    guard let other = other as? PosixFile else { return }
    var theirs = stat()
    guard unsafe fstat(other.descriptor, &theirs) == 0 else { return }
    // The group first, because changing it may clear permission bits.
    _ = fchown(descriptor, uid_t.max, theirs.st_gid)
    _ = fchmod(descriptor, theirs.st_mode & 0o777)
    #if canImport(Darwin)
      let protectionClass = fcntl(other.descriptor, F_GETPROTECTIONCLASS)
      if protectionClass > 0 { _ = fcntl(descriptor, F_SETPROTECTIONCLASS, protectionClass) }
    #endif
  }

  package func close() {
    if holdsLock.load(ordering: .relaxed) {
      if let identity = try? identity() { FileLock.noteUnlocked(identity) }
      FileLock.unlock(descriptor)
    }
    // Not repeated on EINTR: Linux has closed the descriptor by then, and its number may be reused.
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }
}

extension FileIdentity {
  /// Creates the identity from the result of `stat`.
  init(_ status: stat) {
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino),
      linkCount: Int(status.st_nlink))
  }
}
