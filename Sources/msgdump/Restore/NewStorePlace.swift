/// Where a new store is made: beside its place, so that nobody ever opens half of one.
struct NewStorePlace {
  private static let walSuffixes = ["-wal0", "-wal1"]

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
    for suffix in [""] + Self.walSuffixes {
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
    for suffix in [""] + Self.walSuffixes { System.remove(temporaryPath + suffix) }
  }
}
