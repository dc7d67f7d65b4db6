/// Where a new store is made: beside its place, so that nobody ever opens half of one.
struct NewStorePlace {
  private static let walSuffixes = ["-wal0", "-wal1"]
  /// What the names of a store's files end with.
  static let suffixes = [""] + walSuffixes

  /// Where to make it.
  let temporaryPath: String
  private let path: String

  /// Makes sure that there is nothing in either place.
  ///
  /// An empty file may be in the store's own: it is what `mktemp` leaves.
  ///
  /// - Parameter work: What makes the store, as the command is called.
  init(path: String, work: String = "restore", suffix: String = ".restoring") throws(ToolError) {
    self.path = path
    temporaryPath = path + suffix
    for suffix in Self.suffixes {
      guard try System.fileByteCount(at: path + suffix) ?? 0 == 0 else {
        throw .failure("\(path)\(suffix) is there already; \(work) makes a new store only")
      }
      guard try System.fileByteCount(at: temporaryPath + suffix) == nil else {
        throw .failure(
          "\(temporaryPath)\(suffix) is there, from a \(work) that runs or was interrupted; "
            + "remove it if none runs")
      }
    }
  }

  /// Makes sure that the new store is not to take the name of a file of the one that is read: one of
  /// its WAL files may be missing.
  static func refuse(
    _ new: String, asFileOf store: String, called name: String
  ) throws(ToolError) {
    let own = Set(suffixes.map { store + $0 })
    guard own.isDisjoint(with: suffixes.map { new + $0 }) else {
      throw .failure("\(new) is a file of \(name)")
    }
  }

  /// Gives the finished store its name.
  ///
  /// The data file comes last: until it is there, there is no store in the place.
  func settle() throws(ToolError) {
    guard try System.fileByteCount(at: path) ?? 0 == 0 else {
      throw .failure("\(path) has come into being in the meantime")
    }
    for suffix in Self.walSuffixes
    where try System.fileByteCount(at: temporaryPath + suffix) != nil {
      try System.rename(temporaryPath + suffix, to: path + suffix)
    }
    try System.rename(temporaryPath, to: path)
    try System.syncDirectory(of: path)
  }

  /// Removes what was made so far.
  func clear() {
    for suffix in Self.suffixes { System.remove(temporaryPath + suffix) }
  }
}
