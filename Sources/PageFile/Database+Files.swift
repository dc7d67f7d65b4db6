/// The files of a database as a whole: removing them, and copying them while they are in use.
extension Database {
  /// Removes a database: its data file and its log.
  ///
  /// The data file goes first. After a crash on the way the rest of the log remains, which no
  /// opening takes for a database; call this again then.
  ///
  /// - Parameter path: The data file.
  /// - Returns: False if there was nothing to remove.
  /// - Throws: `busy`, `alreadyOpen`; `notADatabase` for a file of another kind; `ioError`. Nothing
  ///   was removed then, unless the error names a log.
  @discardableResult
  public static func remove(path: String) throws(PageFileError) -> Bool {
    let (directory, name) = PosixDirectory.resolve(path)
    return try remove(in: PosixDirectory(path: directory), name: name)
  }

  /// Removes a database in any kind of directory.
  package static func remove(
    in directory: any StorageDirectory, name: String
  ) throws(PageFileError) -> Bool {
    var isRemoved = false
    if try directory.exists(name) {
      let file = try directory.open(name, .readWrite)
      defer { file.close() }
      guard try file.tryLock() else {
        throw file.isLockedByThisProcess ? .alreadyOpen(path: file.path) : .busy(path: file.path)
      }
      try refuseForeign(file)
      try directory.remove(name)
      isRemoved = true
    }
    for walName in Engine.walFileNames(name) where try directory.exists(walName) {
      try directory.remove(walName)
      isRemoved = true
    }
    if isRemoved { try directory.sync() }
    return isRemoved
  }

  /// Throws `notADatabase` for a file that is not empty and has no meta slot of this format, of any
  /// version and however damaged.
  private static func refuseForeign(_ file: any StorageFile) throws(PageFileError) {
    if try file.byteCount() == 0 { return }
    for slot in 0..<2 {
      var buffer = ByteBuffer(capacity: MetaSlot.byteCount)
      buffer.append(zeros: MetaSlot.byteCount)
      let byteCount = try file.read(into: buffer.mutableBytes, at: MetaSlot.offset(of: slot))
      if case .foreign = MetaSlot.read(buffer.bytes.slice(0, byteCount)) { continue }
      return
    }
    throw .notADatabase(path: file.path)
  }

  /// Makes a copy of the database as of one moment, while it is in use.
  ///
  /// The copy is one file, cleanly closed and without a log, with the same keys and values in pages
  /// of the same size. It is made beside its place under a name that ends with `.partial`, and gets
  /// its own name when it is complete and on the disk. Readers and writers continue meanwhile. Each
  /// page in use is read once.
  ///
  /// - Parameters:
  ///   - path: The path of the copy; no file may exist there.
  ///   - progress: Called after every 4 MiB with the number of bytes of keys and values copied; an
  ///     error that it throws ends the copy.
  /// - Throws: The error of `progress`; `ioError` with `EEXIST` if the path is taken;
  ///   `snapshotExpired` if so much was written meanwhile that the moment could not be kept; the
  ///   errors of reading here and of writing there. Nothing is left at the path then.
  public func backUp(
    to path: String, progress: (_ byteCount: Int) throws -> Void = { _ in }
  ) throws {
    let (folder, name) = PosixDirectory.resolve(path)
    try backUp(to: PosixDirectory(path: folder), name: name, progress: progress)
  }

  /// Makes a copy of the database as of one moment that is encrypted under a key of the app, or not
  /// encrypted; see `backUp(to:progress:)`.
  ///
  /// So it also turns a database without encryption into an encrypted one and the reverse, and
  /// gives an encrypted one another data key. Copy a message store with `MessageStore.backUp`:
  /// pages of encrypted files have 32 bytes less room, and its largest segments have to be packed
  /// again.
  ///
  /// - Parameters:
  ///   - path: The path of the copy; no file may exist there.
  ///   - encryption: The source of the key of the copy; nil for a copy without encryption.
  ///   - progress: Called after every 4 MiB with the number of bytes of keys and values copied; an
  ///     error that it throws ends the copy.
  /// - Throws: As the other form does; `keyMissing` and `invalidKey` for the key of the copy.
  public func backUp(
    to path: String, encryption: Encryption?, progress: (_ byteCount: Int) throws -> Void = { _ in }
  ) throws {
    let (folder, name) = PosixDirectory.resolve(path)
    try backUp(
      to: PosixDirectory(path: folder), name: name, encryption: encryption, progress: progress)
  }

  /// Makes a copy in any kind of directory, encrypted as this database is.
  package func backUp(
    to directory: any StorageDirectory, name: String,
    progress: (_ byteCount: Int) throws -> Void = { _ in }
  ) throws {
    try backUp(to: directory, name: name, encryption: encryption, progress: progress)
  }

  /// Makes a copy in any kind of directory.
  ///
  /// - Parameter completing: Called with the moment that was copied and the copy, which has all
  ///   cells but not yet its name, for a caller that has to change some of them.
  package func backUp(
    to directory: any StorageDirectory, name: String, encryption: Encryption?,
    progress: (_ byteCount: Int) throws -> Void = { _ in },
    completing: (borrowing ReadTransaction, Database) throws -> Void = { _, _ in }
  ) throws {
    let temporaryName = "\(name).partial"
    if try directory.exists(name) {
      throw PageFileError.ioError(
        call: "backup", errno: SystemCall.nameIsTaken, path: directory.path(of: name))
    }
    // Left by a process that was killed; the lock of a running one refuses this.
    _ = try Self.remove(in: directory, name: temporaryName)
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    options.encryption = encryption
    let copy = try Database(in: directory, name: temporaryName, options: options)
    do {
      let moment = try beginRead()
      try copy.fill(from: moment, progress: progress)
      try completing(moment, copy)
      try copy.close()
      // Cleanly closed, it needs no log.
      for walName in Engine.walFileNames(temporaryName) where try directory.exists(walName) {
        try directory.remove(walName)
      }
      try directory.rename(temporaryName, to: name)
    } catch {
      try? copy.close()
      _ = try? Self.remove(in: directory, name: temporaryName)
      throw error
    }
    // Or a power cut could take the name back.
    try directory.sync()
  }
}
