/// Whether the files that are open are those that the store's names stand for.
extension Engine {
  /// Sees that a name still stands for the file that was opened under it.
  static func refuseReplaced(
    _ file: any StorageFile, _ directory: any StorageDirectory, _ name: String
  ) throws(PageFileError) {
    if Defect.replacedFileIgnored.isPlanted { return }
    guard try isNamed(name, file, directory) else { throw .fileReplaced(path: file.path) }
  }

  /// Whether a name stands for a file that is open.
  static func isNamed(
    _ name: String, _ file: any StorageFile, _ directory: any StorageDirectory
  ) throws(PageFileError) -> Bool {
    let identity = try file.identity()
    return try directory.identity(of: name)?.isSameFile(as: identity) ?? false
  }

  /// Sees that no other name stands for the data file.
  ///
  /// The WAL files lie beside a name: under another one somebody would find the data file without
  /// its log.
  static func refuseOtherNames(
    _ file: any StorageFile, _ directory: any StorageDirectory, _ name: String
  ) throws(PageFileError) {
    var identity = try file.identity()
    if identity.linkCount > 1, let other = try directory.identity(of: temporaryName(name)),
      other.isSameFile(as: identity)
    {
      // Its maker was killed between giving it the real name and taking the first one away.
      try directory.remove(temporaryName(name))
      identity = try file.identity()
    }
    if identity.linkCount > 1 {
      throw .readOnly(
        reason: "\(file.path) has \(identity.linkCount) names (hard links); its log lies beside one"
      )
    }
  }

  /// Sees that a database is resumed with the store that it was opened with, and not with an older
  /// copy of it.
  static func refuseOther(
    _ pager: Pager, _ recovered: RecoveredState, than former: Engine?
  ) throws(PageFileError) {
    guard let former else { return }
    let isSame = pager.storeID == former.pager.storeID
    // What was durable is there, whoever else has written since.
    if !isSame || recovered.end.lsn < former.statistics.durableLSN {
      throw .fileReplaced(path: pager.dataFile.path)
    }
  }
}
