/// An open file: positioned transfers, a size, a sync, a lock.
///
/// The engine reaches the system only through this and `StorageDirectory`, so tests can replace
/// both.
package protocol StorageFile: AnyObject, Sendable {
  /// The path of the file, for error messages.
  var path: String { get }

  /// Returns the file's identity and its current number of names.
  func identity() throws(PageFileError) -> FileIdentity

  /// Returns the size of the file in bytes.
  func byteCount() throws(PageFileError) -> Int

  /// Reads into `target` from `offset` on and returns the number of bytes read.
  ///
  /// Reads fewer than requested only at the end of the file.
  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int

  /// Writes all bytes at `offset`.
  /// - Throws: `diskFull` or `deviceLocked` if nothing was written. After any other error the range
  ///   may hold anything.
  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError)

  /// Makes the file at least `byteCount` bytes long, with allocated blocks that read as zeros.
  /// - Throws: `diskFull`; the existing content is untouched.
  func extend(to byteCount: Int) throws(PageFileError)

  /// Truncates the file to `byteCount`.
  func truncate(to byteCount: Int) throws(PageFileError)

  /// Returns when everything written to the file is on the medium.
  ///
  /// Linux: `fdatasync`; Apple platforms: `F_FULLFSYNC`, and an error if the file system does not
  /// support it.
  /// - Throws: `deviceLocked` if nothing was lost, so that a later call may succeed. After any
  ///   other error the writes since the last sync may be lost for good.
  func sync() throws(PageFileError)

  /// Tries to take the exclusive lock without waiting; returns false if another opener holds it.
  ///
  /// The lock is released by `close` or at the end of the process.
  func tryLock() throws(PageFileError) -> Bool

  /// True if an opener in this process holds the lock, as far as is known.
  var isLockedByThisProcess: Bool { get }

  /// Copies another file's permissions, group, and, on Apple's systems, protection class to this
  /// newly created file.
  ///
  /// A process that may read a data file has to be able to read its log. Changes that the system
  /// does not allow are skipped.
  func takeAccess(of other: any StorageFile)

  func close()
}

extension StorageFile {
  /// Does nothing, for files without access rights.
  package func takeAccess(of other: any StorageFile) {}
}

extension StorageFile {
  /// Writes the content of a buffer, which stays alive during the call.
  package func write(_ buffer: borrowing ByteBuffer, at offset: Int) throws(PageFileError) {
    try write(buffer.bytes, at: offset)
  }

  /// Fills `target` completely; returns false if the file is too short for that.
  package func readFully(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Bool {
    try read(into: target, at: offset) == target.count
  }
}

extension StorageFile {
  package var isLockedByThisProcess: Bool { false }
}
