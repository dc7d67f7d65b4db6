import Foundation
import MsgStore
import PageFile
import Testing

/// The files that a store makes beside its data file, and the paths that lead to them.
struct NewFilesTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.path(name))
    return try #require(attributes[.posixPermissions] as? Int)
  }

  /// A store that a group may read, made anew after its logs were taken away.
  @Test(arguments: [0o600, 0o640, 0o660, 0o644]) func logsGetThePermissionsOfTheDataFile(
    permissions: Int
  ) throws {
    let path = directory.path("x")
    try Database(path: path).close()
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    let database = try Database(path: path)
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    try Bytes.with([1]) { (key) throws(PageFileError) in
      _ = try BTree(transaction.source, TreeNumber(0)).insert(key, key)
    }
    transaction.source.leave()
    _ = try transaction.commit(.full)
    for name in ["x", "x-wal0", "x-wal1"] { #expect(try mode(name) == permissions, "\(name)") }
    try database.close()
  }

  /// Salvage finds the log where the store has it, whatever way leads there.
  @Test func salvageThroughALinkReadsTheLog() throws {
    let home = directory.path("home")
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    let store = try MessageStore(path: home + "/store", options: StoreOptions(localMember: "me"))
    for number in 0..<5 {
      try store.write { writer in
        try writer.insert(
          Message(
            id: MessageID("m\(number)"), in: "c", from: "ann", text: "in the log",
            serverTimestamp: Timestamp(microseconds: Int64(number + 1))))
      }
    }
    try store.suspend(checkpoints: false)
    let link = directory.path("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: home + "/store")
    let run = try directory.run("salvage", "link", "saved")
    #expect(run.status <= 1, "\(run.errorText)")
    let saved = try MessageStore(
      path: directory.path("saved"), options: StoreOptions(access: .readOnly))
    #expect(try saved.read { try $0.thread("c").tail(10).count } == 5)
  }

  @Test func anEmptyPathIsRefusedByItsName() throws {
    #expect(throws: PageFileError.ioError(call: "open", errno: 2, path: "\"\"")) {
      try Database(path: "")
    }
  }

  @Test func resumingWithoutFilesSaysThatTheDataFileIsMissing() throws {
    let path = directory.path("x")
    let store = try MessageStore(path: path)
    try store.suspend()
    for suffix in ["", "-wal0", "-wal1"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    do {
      try store.resume()
      Issue.record("a store without files was resumed")
    } catch {
      #expect("\(error)".contains("data file missing"), "\(error)")
    }
  }
}
