import Damage
import PageFile
import Testing

/// Files and directories that may not be written, in all combinations, around stores in all states: readers
/// read, writers are told why they cannot, and nothing is changed.
struct ReadOnlyFilesTests {
  /// What may not be written: the data file, either WAL file, the directory, in a bit each.
  private struct Bans: Sendable {
    let bits: Int
    var directory: Bool { bits & 8 != 0 }
    func covers(_ name: String) -> Bool {
      Specimen.fileNames.firstIndex(of: name).map { bits >> $0 & 1 == 1 } ?? false
    }

    /// Refuses what the operating system would.
    func check(_ call: HookedDirectory.Call) throws(PageFileError) {
      switch call.kind {
      case .create, .rename, .remove:
        if directory { throw .readOnly(reason: "\(call.name): Read-only file system") }
      case .write, .extend, .truncate:
        // A descriptor that is open for writing stays so: only a mistake gets here.
        if covers(call.name) { throw .ioError(call: "\(call.kind)", errno: 9, path: call.name) }
      default: break
      }
    }
  }

  /// A directory in which `bans` hold.
  private final class Place: StorageDirectory {
    let hooked: HookedDirectory
    let bans: Bans

    init(_ files: MemoryDirectory, _ bans: Bans) {
      self.bans = bans
      hooked = HookedDirectory(files) { (call, _) throws(PageFileError) in try bans.check(call) }
    }

    func path(of name: String) -> String { hooked.path(of: name) }

    func identity(of name: String) throws(PageFileError) -> FileIdentity? {
      try hooked.identity(of: name)
    }

    func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
      if mode == .readWrite && bans.covers(name) {
        throw .readOnly(reason: "\(name): Permission denied")
      }
      return try hooked.open(name, mode)
    }

    func rename(_ name: String, to newName: String) throws(PageFileError) {
      try hooked.rename(name, to: newName)
    }

    func remove(_ name: String) throws(PageFileError) { try hooked.remove(name) }
    func sync() throws(PageFileError) { try hooked.sync() }
  }

  /// The states a store may be found in: closed with and without WAL files, in use, in mid-checkpoint.
  private func specimens() throws -> [Specimen] {
    let closed = try Specimen.closed()
    let bare = closed.files.copy()
    for name in Specimen.fileNames.dropFirst() { bare[name] = nil }
    let steps = try Specimen.inMidCheckpoint()
    return [
      closed, Specimen("closed, without logs", bare, closed.states), try Specimen.inUse(),
      steps[0], steps[steps.count / 2],
    ]
  }

  private func contents(_ files: MemoryDirectory) -> [[UInt8]?] {
    Specimen.fileNames.map { files[$0] }
  }

  @Test func readersReadWhateverMayNotBeWritten() throws {
    var options = SpecimenMaker.options
    options.access = .readOnly
    for specimen in try specimens() {
      for bits in 0..<16 {
        let files = specimen.files.copy()
        let place = Place(files, Bans(bits: bits))
        let database = try Database(in: place, name: Specimen.storeName, options: options)
        let isRight = try database.state().contents == specimen.states[specimen.lastLSN]
        #expect(isRight)
        #expect(try database.findings() == [])
        #expect(throws: PageFileError.self) { try database.put([1], [1], tree: 6) }
        try database.close()
        let isUntouched = contents(files) == contents(specimen.files)
        #expect(isUntouched, "\(specimen.name), bans \(bits)")
      }
    }
  }

  @Test func writersAreToldWhyTheyCannotAndChangeNothing() throws {
    for specimen in try specimens() {
      // A file that is made now can be written.
      let isThere = Specimen.fileNames.map { specimen.files[$0] != nil }
      let mask = isThere.enumerated().reduce(8) { $0 | ($1.element ? 1 << $1.offset : 0) }
      for bits in 0..<16 where bits & mask == bits {
        let files = specimen.files.copy()
        let bans = Bans(bits: bits)
        let isBanned =
          Specimen.fileNames.contains { bans.covers($0) } || bans.directory && !isThere[1]
        let what = "\(specimen.name), bans \(bits)"
        do throws(PageFileError) {
          let database = try Database(
            in: Place(files, bans), name: Specimen.storeName, options: SpecimenMaker.options)
          let isRight = try database.state().contents == specimen.states[specimen.lastLSN]
          #expect(isRight, "\(what)")
          _ = try database.put([1], [1], tree: 6)
          try database.close()
          #expect(!isBanned, "\(what)")
        } catch {
          guard case .readOnly(let reason) = error else {
            Issue.record("\(what): \(error)")
            continue
          }
          #expect(isBanned && !reason.isEmpty, "\(what): \(reason)")
          let isUntouched = contents(files) == contents(specimen.files)
          #expect(isUntouched, "\(what)")
        }
      }
    }
  }

  @Test func noStoreIsMadeWhereNothingMayBe() throws {
    let files = MemoryDirectory()
    do throws(PageFileError) {
      _ = try Database(in: Place(files, Bans(bits: 8)), name: Specimen.storeName)
      Issue.record("a store was made")
    } catch {
      guard case .readOnly = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(!files.exists(Specimen.storeName))
  }
}
