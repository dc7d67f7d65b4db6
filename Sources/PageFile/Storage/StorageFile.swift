/// One open file: positioned transfers, a size, a sync, a lock.
///
/// The engine reaches the system through this and `StorageDirectory` only, so that tests can stand
/// in for both.
package protocol StorageFile: AnyObject, Sendable {
  /// For error messages.
  var path: String { get }

  /// Which file this is, and how many names it has now.
  func identity() throws(PageFileError) -> FileIdentity

  /// The size of the file in bytes.
  func byteCount() throws(PageFileError) -> Int

  /// Fills `target` from `offset` on and returns how many bytes there were: fewer than asked for
  /// only at the end of the file.
  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int

  /// Writes all bytes at `offset`.
  /// - Throws: `diskFull` and `deviceLocked` with nothing written; after any other error the range
  ///   may hold anything.
  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError)

  /// Makes the file at least `byteCount` long with blocks that exist, reading as zeros.
  /// - Throws: `diskFull`, with what was there before untouched.
  func extend(to byteCount: Int) throws(PageFileError)

  /// Cuts the file to `byteCount`.
  func truncate(to byteCount: Int) throws(PageFileError)

  /// Returns when everything written to the file is on the medium.
  ///
  /// Linux: `fdatasync`; Apple platforms: `F_FULLFSYNC`, and an error where the file system does not
  /// have it.
  /// - Throws: `deviceLocked` with nothing lost, so that a later call may succeed; after any other
  ///   error what was written since the last sync may be gone for good.
  func sync() throws(PageFileError)

  /// Takes the one exclusive lock without waiting; false when somebody else holds it. It ends with
  /// `close` or with the process.
  func tryLock() throws(PageFileError) -> Bool

  /// Gives a file that was just created the permissions, the group, and on Apple's systems the
  /// protection class of another one: whoever may read a data file has to be able to read its log.
  ///
  /// What the system does not allow stays as it is.
  func takeAccess(of other: any StorageFile)

  func close()
}

extension StorageFile {
  /// For files that have no such thing.
  package func takeAccess(of other: any StorageFile) {}
}

extension StorageFile {
  /// Writes the content of a buffer, which stays alive for the length of the call.
  package func write(_ buffer: borrowing ByteBuffer, at offset: Int) throws(PageFileError) {
    try write(buffer.bytes, at: offset)
  }

  /// Reads exactly as many bytes as asked for, or says false because the file is shorter.
  package func readFully(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Bool {
    try read(into: target, at: offset) == target.count
  }
}
