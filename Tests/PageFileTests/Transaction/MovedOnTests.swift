import Damage
import PageFile
import Testing

/// What is read goes bad in the middle of a check or a compaction, because the slots are used again: that
/// is no damage.
struct MovedOnTests {
  private static func key(_ index: Int) -> [UInt8] { [UInt8(index >> 8), UInt8(index & 255)] }

  private static func options(_ access: DatabaseOptions.Access = .readWrite) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.access = access
    options.cacheByteCount = 64 * 4096
    options.backgroundWork = .caller
    return options
  }

  /// Writes the whole store again, three times.
  private static func goOn(_ owner: Database) throws(PageFileError) {
    for round in 0..<3 {
      try owner.write { (source) throws(PageFileError) in
        for index in stride(from: 0, to: 9000, by: 3) {
          try source.put(key(index), [UInt8](repeating: UInt8(2 + round), count: 900))
        }
      }
      try owner.checkpoint()
    }
  }

  private static func fill(_ owner: Database) throws {
    for start in stride(from: 0, to: 9000, by: 1500) {
      try owner.write { (source) throws(PageFileError) in
        for index in start..<start + 1500 {
          try source.put(key(index), [UInt8](repeating: 1, count: 900))
        }
      }
    }
    try owner.checkpoint()
  }

  /// Calls something once, before the read of a page table's page of a place.
  private final class Trigger: Sendable {
    private let action = Locked<(@Sendable () throws(PageFileError) -> Void)?>(nil)
    private let place: UInt32

    init(place: UInt32) { self.place = place }

    func arm(_ action: @escaping @Sendable () throws(PageFileError) -> Void) {
      self.action.withLock { $0 = action }
    }

    func isReached(_ page: Bytes) -> Bool {
      page.count >= 4096 && page[PageHeader.kindOffset] == PageKind.table.rawValue
        && page.uint32(at: PageHeader.numberOffset) == place
    }

    func fire() throws(PageFileError) {
      let action = action.withLock { action in
        defer { action = nil }
        return action
      }
      try action?()
    }
  }

  /// Files that fire a trigger.
  private final class TriggeredDirectory: StorageDirectory {
    let files: MemoryDirectory
    let trigger: Trigger

    init(_ files: MemoryDirectory, _ trigger: Trigger) {
      (self.files, self.trigger) = (files, trigger)
    }

    func path(of name: String) -> String { files.path(of: name) }
    func identity(of name: String) -> FileIdentity? { files.identity(of: name) }
    func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
      TriggeredFile(try files.open(name, mode), trigger)
    }
    func rename(_ name: String, to newName: String) throws(PageFileError) {
      try files.rename(name, to: newName)
    }
    func remove(_ name: String) throws(PageFileError) { try files.remove(name) }
    func sync() {}
  }

  private final class TriggeredFile: StorageFile {
    private let file: any StorageFile
    private let trigger: Trigger

    init(_ file: any StorageFile, _ trigger: Trigger) {
      (self.file, self.trigger) = (file, trigger)
    }

    var path: String { file.path }
    func identity() throws(PageFileError) -> FileIdentity { try file.identity() }
    func byteCount() throws(PageFileError) -> Int { try file.byteCount() }
    func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
      let count = try file.read(into: target, at: offset)
      guard trigger.isReached(target.readOnly.slice(0, count)) else { return count }
      try trigger.fire()
      return try file.read(into: target, at: offset)
    }
    func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
      try file.write(bytes, at: offset)
    }
    func extend(to byteCount: Int) throws(PageFileError) { try file.extend(to: byteCount) }
    func truncate(to byteCount: Int) throws(PageFileError) { try file.truncate(to: byteCount) }
    func sync() throws(PageFileError) { try file.sync() }
    func tryLock() throws(PageFileError) -> Bool { try file.tryLock() }
    func close() { file.close() }
  }

  @Test func aCheckBesideABusyOwnerReportsNoDamage() throws {
    let files = MemoryDirectory()
    let owner = try Database(in: files, name: "x", options: Self.options())
    try Self.fill(owner)
    let trigger = Trigger(place: 4)
    let reader = try Database(
      in: TriggeredDirectory(files, trigger), name: "x", options: Self.options(.readOnly))
    trigger.arm { () throws(PageFileError) in try Self.goOn(owner) }
    var findings: [CheckFinding] = []
    #expect(throws: PageFileError.snapshotExpired) { try reader.check { findings.append($0) } }
    #expect(findings == [])
    #expect(try reader.findings() == [])
  }

  @Test func aCompactionWhoseMomentEndsReportsNoDamage() throws {
    let trigger = Trigger(place: 4)
    let database = try Database(
      in: TriggeredDirectory(MemoryDirectory(), trigger), name: "x", options: Self.options())
    try Self.fill(database)
    trigger.arm { () throws(PageFileError) in try Self.goOn(database) }
    var compaction = Compaction()
    #expect(try database.compact(&compaction))
    try database.compact()
    #expect(try database.findings() == [])
  }
}
