import Damage
import Foundation
import PageFile
import Testing

/// Stores as earlier versions left them: every later version opens them, for ever.
///
/// They lie in `Golden`, one text for each version and state, see `StoreText`.
/// `MSGSTORE_GOLDEN=record swift test --filter GoldenStoreTests` adds what is missing and changes none
/// that is there.
struct GoldenStoreTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Golden")

  enum State: String, CaseIterable {
    /// Never written to.
    case new
    case closed
    /// Left by a killed process, with commits in one log.
    case inUse = "in-use"
    /// With commits in both logs.
    case checkpointing
  }

  /// What a state holds: how many commits, and with what.
  private static func contents(_ state: State) -> Contents {
    let count = [State.new: 0, .closed: 4, .inUse: 7, .checkpointing: 8][state] ?? 0
    return (0..<count).reduce(into: [:]) { contents, number in
      contents = Self.contents(after: contents, commit: number)
    }
  }

  /// Long values are zeros, which take no room in the text; there is a branch page, and a chain.
  private static func contents(after old: Contents, commit number: Int) -> Contents {
    var new = old
    for key in 0..<7 {
      let value = [UInt8(number), UInt8(key)] + [UInt8](repeating: 0, count: 800)
      if number == 0 { new[[0] + Array("zeros-\(key)".utf8)] = value }
    }
    new[[0] + Array("chain".utf8)] = [UInt8](repeating: 0, count: 4500) + [UInt8(number)]
    new[[0] + Array("key-\(number)".utf8)] = Array("value \(number)".utf8)
    new[[3] + Array("key-\(number % 3)".utf8)] = Array("another tree, \(number)".utf8)
    new[[0] + Array("zeros-\(number)".utf8)] = nil
    return new
  }

  /// Writes a store of that state with the present version.
  private static func make(_ state: State) throws -> MemoryDirectory {
    let refusesPages = Locked(false)
    let directory = HookedDirectory { (call, _) throws(PageFileError) in
      let isPage = call.kind == .write && call.offset >= 2 * MetaSlot.regionByteCount
      if isPage && call.name == Specimen.storeName && refusesPages.withLock({ $0 }) {
        throw .diskFull
      }
    }
    let database = try Database(
      in: directory, name: Specimen.storeName, options: SpecimenMaker.options)
    var contents: Contents = [:]
    func commit(_ numbers: Range<Int>) throws {
      for number in numbers {
        let new = Self.contents(after: contents, commit: number)
        try database.write(.full) { (source) throws(PageFileError) in
          try new.write(over: contents, to: source)
        }
        contents = new
      }
    }
    switch state {
    case .new: break
    case .closed:
      try commit(0..<4)
      try database.close()
    case .inUse:
      try commit(0..<4)
      try database.checkpoint()
      try commit(4..<7)
    case .checkpointing:
      try commit(0..<4)
      try database.checkpoint()
      try commit(4..<6)
      refusesPages.withLock { $0 = true }
      try? database.checkpoint()
      try commit(6..<8)
    }
    return directory.files.copy()
  }

  // MARK: The tests

  @Test(arguments: State.allCases) func storesOfEveryVersionOpenForEver(state: State) throws {
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record" {
      let name = "version-\(MetaSlot.formatVersion)-\(state.rawValue).txt"
      let file = Self.folder.appendingPathComponent(name)
      if !FileManager.default.fileExists(atPath: file.path) {
        try Data(StoreText.text(of: try Self.make(state), Specimen.fileNames).utf8).write(to: file)
      }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix("-\(state.rawValue).txt") }
    #expect(names.contains("version-1-\(state.rawValue).txt"))
    let expected = Self.contents(state)
    for name in names {
      let data = try Data(contentsOf: Self.folder.appendingPathComponent(name))
      let files = try StoreText.files(
        String(decoding: data, as: UTF8.self), storeName: Specimen.storeName)
      let before = Specimen.fileNames.map { files[$0] }
      var options = SpecimenMaker.options
      options.access = .readOnly
      let reader = try Database(in: files, name: Specimen.storeName, options: options)
      let isRight = try reader.state().contents == expected
      #expect(isRight, "\(name)")
      #expect(try reader.findings() == [], "\(name)")
      let isUntouched = Specimen.fileNames.map { files[$0] } == before
      #expect(isUntouched, "\(name)")
      try expectGoesOn(files, expected)
    }
  }

  /// It can be written to, closed, and opened again.
  private func expectGoesOn(_ files: MemoryDirectory, _ expected: Contents) throws {
    var expected = expected
    for round in 0..<3 as Range<UInt8> {
      let database = try Database(
        in: files, name: Specimen.storeName, options: SpecimenMaker.options)
      _ = try database.put([round], [round], tree: 5)
      expected[[5, round]] = [round]
      try database.checkpoint()
      let isRight = try database.state().contents == expected
      #expect(isRight)
      #expect(try database.findings() == [])
      try database.close()
    }
  }

  /// The texts say what was in the files.
  @Test func textsAreReadAsTheyAreWritten() throws {
    let files = try Self.make(.checkpointing)
    let copy = try StoreText.files(
      StoreText.text(of: files, Specimen.fileNames), storeName: Specimen.storeName)
    let isSame = Specimen.fileNames.allSatisfy { files[$0] == copy[$0] }
    #expect(isSame)
  }
}
