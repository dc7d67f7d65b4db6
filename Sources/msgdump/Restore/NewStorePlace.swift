import PageFile

/// The place where a new store is made: beside its final one, so that nobody ever opens half a
/// store.
///
/// A command that ends early, also by a signal, leaves nothing there. One that is killed leaves its
/// files without an owner, and the next one removes them.
struct NewStorePlace {
  private static let walSuffixes = ["-wal0", "-wal1"]
  /// The suffix of a copy that is not complete.
  static let partialSuffix = ".partial"
  /// The suffixes of a store's files.
  static let suffixes = [""] + walSuffixes

  /// The path at which the store is made.
  let temporaryPath: String
  private let path: String

  /// Checks that both places are free.
  ///
  /// An empty file may lie at the store's own path: `mktemp` leaves one.
  ///
  /// - Parameter work: The name of the command that makes the store.
  init(path: String, work: String = "restore", suffix: String = ".restoring") throws(ToolError) {
    self.path = path
    temporaryPath = path + suffix
    for suffix in Self.suffixes {
      guard try System.fileByteCount(at: path + suffix) ?? 0 == 0 else {
        throw .failure("\(path)\(suffix) already exists; \(work) only makes new stores")
      }
    }
    // A copy is made under a further name at first; see `Database.backUp`.
    try Self.claim([temporaryPath, temporaryPath + Self.partialSuffix], work)
  }

  /// Removes what an earlier command left of stores under way, and has a signal remove what this
  /// one leaves.
  ///
  /// - Throws: An error that names a store that another command is making, or a file of another
  ///   kind, which stays.
  static func claim(_ stores: [String], _ work: String) throws(ToolError) {
    for store in stores {
      do throws(PageFileError) {
        try Database.remove(path: store)
      } catch .busy {
        throw .failure("\(store): in use by another \(work)")
      } catch .notADatabase {
        throw .failure("\(store): not the remains of a \(work); remove it")
      } catch {
        throw .failure(ToolError.sentence(for: error))
      }
    }
    System.removeWhenInterrupted(stores.flatMap { store in suffixes.map { store + $0 } })
  }

  /// Throws if the new store would take the name of a file of the store being read.
  ///
  /// One of that store's WAL files may be missing, so the name may be free.
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
  /// The data file comes last: until it is in place, no store exists there.
  func settle() throws(ToolError) {
    guard try System.fileByteCount(at: path) ?? 0 == 0 else {
      throw .failure("\(path) was created in the meantime")
    }
    for suffix in Self.walSuffixes
    where try System.fileByteCount(at: temporaryPath + suffix) != nil {
      try System.rename(temporaryPath + suffix, to: path + suffix)
    }
    try System.rename(temporaryPath, to: path)
    System.removeWhenInterrupted([])
    try System.syncDirectory(of: path)
  }

  /// Removes everything made so far.
  func clear() {
    for suffix in Self.suffixes { System.remove(temporaryPath + suffix) }
    System.removeWhenInterrupted([])
  }
}
