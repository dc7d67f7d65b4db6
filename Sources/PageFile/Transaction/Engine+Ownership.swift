/// Checks that the open files are the ones that the store's names refer to.
extension Engine {
  /// Throws `fileReplaced` unless a name still refers to the file that was opened under it.
  @inline(never)
  static func refuseReplaced(
    _ file: any StorageFile, _ directory: any StorageDirectory, _ name: String
  ) throws(PageFileError) {
    if Defect.replacedFileIgnored.isPlanted { return }
    guard try isNamed(name, file, directory) else { throw .fileReplaced(path: file.path) }
  }

  /// Returns true if a name refers to an open file.
  @inline(never)
  static func isNamed(
    _ name: String, _ file: any StorageFile, _ directory: any StorageDirectory
  ) throws(PageFileError) -> Bool {
    let identity = try file.identity()
    return try directory.identity(of: name)?.isSameFile(as: identity) ?? false
  }

  /// Throws `readOnly` if the data file has another name.
  ///
  /// The WAL files lie beside one name. Opened under another, the data file would lack its log.
  static func refuseOtherNames(
    _ file: any StorageFile, _ directory: any StorageDirectory, _ name: String
  ) throws(PageFileError) {
    var identity = try file.identity()
    if identity.linkCount > 1, let other = try directory.identity(of: temporaryName(name)),
      other.isSameFile(as: identity)
    {
      // The creator was killed between linking the store's name and removing the temporary one.
      try directory.remove(temporaryName(name))
      identity = try file.identity()
    }
    if identity.linkCount > 1 {
      throw .readOnly(
        reason: "\(file.path) has \(identity.linkCount) names (hard links); its log lies beside one"
      )
    }
  }

  /// Throws `fileReplaced` unless a database is resumed with the store it was opened with, rather
  /// than an older copy of it.
  static func refuseOther(
    _ pager: Pager, _ recovered: RecoveredState, than former: Engine?
  ) throws(PageFileError) {
    guard let former else { return }
    let isSame = pager.storeID == former.pager.storeID
    // Everything that was durable is there, even if another process has written since.
    if !isSame || recovered.end.lsn < former.statistics.durableLSN {
      throw .fileReplaced(path: pager.dataFile.path)
    }
  }
}
