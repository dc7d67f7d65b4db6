/// Creation of a new store, which gets its name only once all of it is on the disk.
extension Engine {
  /// Makes an empty store under a temporary name and renames it once it is on the disk.
  static func create(
    _ directory: any StorageDirectory, _ name: String, _ options: DatabaseOptions,
    _ appKey: (any PageCipher)?
  ) throws(PageFileError) {
    let temporaryName = temporaryName(name)
    try removeAbandoned(temporaryName, directory)
    let file: any StorageFile
    do throws(PageFileError) {
      file = try directory.open(temporaryName, .create)
    } catch .ioError(_, SystemCall.nameIsTaken, let path) {
      throw .busy(path: path)
    } catch .ioError(let call, let errno, _) {
      // The caller knows the store's name only.
      throw .ioError(call: call, errno: errno, path: directory.path(of: name))
    } catch .deviceLocked(let call, _) {
      throw .deviceLocked(call: call, path: directory.path(of: name))
    }
    defer { file.close() }
    // Before the lock was taken, another process may have considered the file abandoned and begun
    // its own.
    guard try file.tryLock(), try isNamed(temporaryName, file, directory) else {
      throw .busy(path: file.path)
    }
    do throws(PageFileError) {
      var meta = MetaSlot(
        pageByteCount: options.pageByteCount,
        storeID: StoreID(high: options.random(), low: options.random()), writeNumber: 0,
        checkpointLSN: .zero, chain: options.random(),
        generation: Generation(after: 0, random: options.random()), writer: .opening,
        isClean: true, table: .empty, roots: Roots())
      if appKey != nil { meta.features.mustUnderstand |= MetaSlot.Features.encrypted }
      let keys = appKey.map {
        StoreKeys.make(for: meta.storeID, pageByteCount: meta.pageByteCount, under: $0)
      }
      try file.extend(to: Pager.slotsOffset)
      try MetaSlots(file, newest: meta, writeNumbers: [0, 0], keys: keys).publish(meta)
      try directory.rename(temporaryName, to: name)
    } catch {
      try? directory.remove(temporaryName)
      // Another process has created the store in the meantime; open that one.
      if try directory.exists(name) { return }
      throw error
    }
  }

  static func temporaryName(_ name: String) -> String { "\(name)-new" }

  /// Removes the remains of a process that was killed while it created a store.
  ///
  /// A process that is still creating one holds the lock.
  private static func removeAbandoned(
    _ temporaryName: String, _ directory: any StorageDirectory
  ) throws(PageFileError) {
    guard try directory.exists(temporaryName) else { return }
    let file: any StorageFile
    do throws(PageFileError) {
      file = try directory.open(temporaryName, .readWrite)
    } catch .ioError(_, SystemCall.nameIsUnknown, _) {
      return
    }
    defer { file.close() }
    guard try file.tryLock() else { throw .busy(path: file.path) }
    // Since the file was opened, its creator may have renamed it to the store's name.
    guard try isNamed(temporaryName, file, directory) else { return }
    try directory.remove(temporaryName)
  }
}
