import Foundation
import MsgStore
import PageFile
import Testing
import crash_writer

/// One store by many ways: whichever leads to it, it is one store with one owner, and its files lie
/// together.
struct PathTests {
  private let directory: TemporaryDirectory
  private let root: String

  init() throws {
    directory = try TemporaryDirectory()
    root = directory.url.resolvingSymlinksInPath().path
    let files = FileManager.default
    try files.createDirectory(atPath: root + "/home/inner", withIntermediateDirectories: true)
    for (link, target) in [
      ("link-to-home", "home"), ("absolute-home", root + "/home"), ("link-to-link", "link-to-home"),
      ("link-to-store", "home/x"), ("absolute-store", root + "/home/x"),
      ("link-to-link-to-store", "link-to-store"), ("home/inner/up", ".."),
      ("home/inner/back", "../x"), ("home/beside", "x"),
    ] {
      try files.createSymbolicLink(atPath: root + "/" + link, withDestinationPath: target)
    }
  }

  /// What lies behind the root of the test; all of them lead to `home/x`.
  private static let forms = [
    "/home/x", "//home/x", "/home//x", "/./home/x", "/home/./x", "/home/././x",
    "/home/../home/x", "/home/inner/../x", "/home/inner/../inner/../x", "/../ROOT/home/x",
    "/link-to-home/x", "/link-to-home/./x", "/absolute-home/x", "/link-to-link/x",
    "/link-to-home/inner/../x", "/home/inner/up/x", "/link-to-link/inner/up/x",
    "/link-to-store", "/absolute-store", "/link-to-link-to-store", "/home/inner/back",
    "/link-to-home/inner/back", "/home/beside", "/link-to-link/beside",
  ]

  private func path(_ form: String) -> String {
    root + form.replacingOccurrences(of: "ROOT", with: (root as NSString).lastPathComponent)
  }

  private func number(_ path: String, _ access: StoreOptions.Access) throws -> Int {
    let store = try MessageStore(path: path, options: StoreOptions(access: access))
    defer { try? store.close() }
    return try CrashStep.lastNumber(in: store)
  }

  private func isBusy(_ path: String) -> Bool {
    error { _ = try MessageStore(path: path) }?.contains("already open in this process") ?? false
  }

  private func error(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
  }

  @Test func everyFormOfAPathIsTheSameStore() throws {
    #expect(Self.forms.count == 24)
    for (index, form) in Self.forms.enumerated() {
      // Each in turn comes first, and the others find its owner and what it wrote.
      let owner = try MessageStore(path: index == 0 ? path("/home/x") : path(form))
      try owner.write { try CrashStep(index + 1).run(index + 1, $0) }
      for other in Self.forms {
        #expect(isBusy(path(other)), "\(other) while \(form) is open")
        #expect(try number(path(other), .readOnly) == index + 1, "\(other) beside \(form)")
      }
      if index % 2 == 0 { try owner.close() }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: root + "/home").sorted()
    #expect(names == ["beside", "inner", "x", "x-wal0", "x-wal1"])
    let others = try FileManager.default.contentsOfDirectory(atPath: root)
    #expect(!others.contains { $0.contains("-wal") })
  }

  /// Under the other name the log would not be found.
  @Test func aStoreWithTwoNamesIsNotWrittenTo() throws {
    let path = root + "/home/x"
    let store = try MessageStore(path: path)
    try store.write { try CrashStep(1).run(1, $0) }
    try FileManager.default.linkItem(atPath: path, toPath: root + "/second")
    #expect(isBusy(root + "/second"))
    try store.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    for name in [path, root + "/second"] {
      let refusal = error { _ = try MessageStore(path: name) }
      #expect(refusal?.contains("2 names") ?? false, "\(refusal ?? "was opened")")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    try FileManager.default.removeItem(atPath: root + "/second")
    #expect(try number(path, .readWrite) == 1)
  }

  @Test func whatIsNoFileIsRefused() throws {
    for form in ["", "/home", "/home/", "/home/x/", "/nowhere/x", "/home/inner/up"] {
      #expect(throws: StoreError.self, "\(form)") { try MessageStore(path: root + form) }
    }
    try FileManager.default.createSymbolicLink(
      atPath: root + "/dangling", withDestinationPath: "nothing")
    #expect(throws: StoreError.self) { try MessageStore(path: root + "/dangling") }
    let names = try FileManager.default.subpathsOfDirectory(atPath: root)
    #expect(!names.contains { $0.hasSuffix("-new") || $0.contains("-wal") })
  }

  // MARK: Under its hands

  /// What happens to a file of a store that is open, and where.
  static let mishaps: [(name: String, what: String)] = ["x", "x-wal0", "x-wal1"].flatMap { name in
    ["renamed", "removed", "replaced by a copy", "replaced by another"].map { (name, $0) }
  }

  @Test(arguments: mishaps) func aFileThatIsTakenAwayIsNoticed(name: String, what: String) throws {
    let files = FileManager.default
    let other = root + "/inner-x"
    let foreign = try MessageStore(path: other)
    try foreign.write { try CrashStep(1).run(1, $0) }
    try foreign.close()
    for moment in 0..<3 {
      let home = root + "/\(moment)"
      try files.createDirectory(atPath: home, withIntermediateDirectories: true)
      let store = try MessageStore(path: home + "/x")
      for number in 1...(moment + 1) { try store.write { try CrashStep(number).run(number, $0) } }
      if moment == 1 { try store.checkpoint() }
      let file = home + "/" + name
      switch what {
      case "renamed": try files.moveItem(atPath: file, toPath: file + "-away")
      case "removed": try files.removeItem(atPath: file)
      default:
        let source = what.hasSuffix("copy") ? file : other + name.dropFirst()
        try files.copyItem(atPath: String(source), toPath: file + "-copy")
        try files.removeItem(atPath: file)
        try files.moveItem(atPath: file + "-copy", toPath: file)
      }
      let namesBefore = try files.contentsOfDirectory(atPath: home).sorted()
      let bytesBefore = try? Data(contentsOf: URL(fileURLWithPath: file))
      _ = try? store.write { try CrashStep(9).run(moment + 2, $0) }
      #expect(throws: StoreError.storage(.fileReplaced(path: file))) { try store.checkpoint() }
      #expect(throws: StoreError.storage(.fileReplaced(path: file))) { try store.write { _ in } }
      _ = try? store.close()
      // Nothing was made, and nothing written to what is not ours.
      #expect(try files.contentsOfDirectory(atPath: home).sorted() == namesBefore)
      let bytesAfter = try? Data(contentsOf: URL(fileURLWithPath: file))
      #expect(bytesAfter == bytesBefore)
    }
  }

  /// Somebody else's descriptor: what it writes over is answered rightly or not at all.
  @Test func foreignWritesNeverGiveAWrongAnswer() throws {
    var random = SeededGenerator(seed: seeds(1)[0])
    let path = root + "/home/x"
    var model = CrashModel()
    model.advance(to: 60)
    var refusedCount = 0
    for round in 0..<60 {
      let store = try MessageStore(
        path: path, options: StoreOptions(localMember: CrashStep.localMember))
      if try CrashStep.lastNumber(in: store) == 0 {
        for number in 1...60 { try store.write { try CrashStep(number).run(number, $0) } }
        try store.close()
        continue
      }
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let foreign = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      // Where the pages are; behind them is room for more.
      try foreign.seek(toOffset: UInt64.random(in: 32768..<100_000, using: &random))
      try foreign.write(contentsOf: Data(random.bytes(40_000)))
      try foreign.close()
      do {
        #expect(try model.difference(from: store) == nil, "round \(round)")
      } catch StoreError.storage(.corruptPage) {
        refusedCount += 1
      } catch StoreError.corruptRecord {
        refusedCount += 1
      }
      try store.suspend(checkpoints: false)
      try whole.write(to: URL(fileURLWithPath: path))
    }
    print("foreign writes: \(refusedCount) of 59 met")
    #expect(refusedCount > 0)
  }
}
