import MsgStore
import PageFile

/// The place where a new store is made: beside its final one, so that nobody ever opens half a
/// store.
///
/// Work that ends early leaves nothing there. A process that is killed leaves its files without an
/// owner, and the next work of the kind removes them.
package struct NewStorePlace {
  private static let walSuffixes = ["-wal0", "-wal1"]
  /// The suffix of a copy that is not complete.
  package static let partialSuffix = ".partial"
  /// The suffixes of a store's files.
  package static let suffixes = [""] + walSuffixes

  /// A function that is told which files are to be removed if the process is asked to end; an empty
  /// list ends that.
  package typealias Watch = ([String]) -> Void

  /// The path at which the store is made.
  package let temporaryPath: String
  private let path: String
  private let directory: PosixDirectory
  private let name: String
  private let temporaryName: String
  private let watch: Watch

  /// Checks that both places are free, and removes what an earlier process left there.
  ///
  /// An empty file may lie at the store's own path: `mktemp` leaves one.
  ///
  /// - Parameters:
  ///   - work: The name of the work that makes the store, for errors.
  ///   - suffix: The end of the temporary name.
  ///   - watch: Told of the temporary files.
  package init(
    path: String, work: String, suffix: String, watch: @escaping Watch
  ) throws {
    self.path = path
    self.watch = watch
    temporaryPath = path + suffix
    let (folder, name) = PosixDirectory.split(path)
    self.name = name
    temporaryName = name + suffix
    let directory = PosixDirectory(path: folder)
    self.directory = directory
    try directory.refuseMissing(folder)
    for suffix in Self.suffixes {
      let byteCount = try storage { () throws(PageFileError) in
        try directory.byteCount(of: name + suffix)
      }
      guard byteCount ?? 0 == 0 else {
        throw StoreToolError.alreadyExists(path: path + suffix, work: work)
      }
    }
    // A copy is made under a further name at first; see `Database.backUp`.
    try Self.claim([temporaryPath, temporaryPath + Self.partialSuffix], work, watch: watch)
  }

  /// Removes what earlier work left of stores under way, and tells `watch` of their files.
  ///
  /// - Throws: An error that names a store that another call is making, or a file of another kind,
  ///   which stays.
  package static func claim(_ stores: [String], _ work: String, watch: Watch) throws {
    for store in stores {
      do throws(PageFileError) {
        try Database.remove(path: store)
      } catch {
        switch error {
        case .busy, .alreadyOpen: throw StoreToolError.inUse(path: store, work: work)
        case .notADatabase: throw StoreToolError.notRemains(path: store, work: work)
        default: throw StoreError.storage(error)
        }
      }
    }
    watch(stores.flatMap { store in suffixes.map { store + $0 } })
  }

  /// Throws if the new store would take the name of a file of the store being read.
  ///
  /// One of that store's WAL files may be missing, so the name may be free.
  package static func refuse(
    _ new: String, asFileOf store: String, called name: String
  ) throws(StoreToolError) {
    let own = Set(suffixes.map { store + $0 })
    guard own.isDisjoint(with: suffixes.map { new + $0 }) else {
      throw .fileOfSource(path: new, source: name)
    }
  }

  /// Runs `body`, which makes and closes the store at `temporaryPath`, and gives the store its
  /// name.
  ///
  /// Nothing is left if either fails.
  package func make<R>(_ body: () throws -> R) throws -> R {
    do {
      let result = try body()
      try settle()
      return result
    } catch {
      // If another call was faster, the temporary files belong to it.
      if isTakenByAnother(error) { watch([]) } else { clear() }
      throw error
    }
  }

  private func isTakenByAnother(_ error: any Error) -> Bool {
    switch error {
    case StoreError.storage(.busy(let taken)), StoreError.storage(.alreadyOpen(let taken)):
      let (folder, name) = PosixDirectory.resolve(temporaryPath)
      return taken == PosixDirectory(path: folder).path(of: name)
    default: return false
    }
  }

  /// Gives the finished store its name.
  ///
  /// The data file comes last: until it is in place, no store exists there.
  package func settle() throws {
    guard try byteCount(of: name) ?? 0 == 0 else {
      throw StoreToolError.createdMeanwhile(path: path)
    }
    var moved: [String] = []
    do throws(StoreError) {
      for suffix in Self.walSuffixes + [""] {
        let isMade = try byteCount(of: temporaryName + suffix) != nil
        guard isMade || suffix.isEmpty else { continue }
        // Renaming replaces nothing, and an empty file may be in the way.
        let isTaken = try byteCount(of: name + suffix) != nil
        try storage { () throws(PageFileError) in
          if isTaken { try directory.remove(name + suffix) }
          try directory.rename(temporaryName + suffix, to: name + suffix)
        }
        moved.append(name + suffix)
      }
    } catch {
      for name in moved { try? directory.remove(name) }
      throw error
    }
    watch([])
    try storage { () throws(PageFileError) in try directory.sync() }
  }

  private func byteCount(of name: String) throws(StoreError) -> Int? {
    try storage { () throws(PageFileError) in try directory.byteCount(of: name) }
  }

  /// Removes everything made so far.
  package func clear() {
    for suffix in Self.suffixes { try? directory.remove(temporaryName + suffix) }
    watch([])
  }
}

extension PosixDirectory {
  /// Throws if the directory does not exist, before an error names a file that nobody asked for.
  func refuseMissing(_ folder: String) throws {
    let isThere = try storage { () throws(PageFileError) in try exists(".") }
    guard isThere else { throw StoreToolError.noFolder(path: folder) }
  }
}
