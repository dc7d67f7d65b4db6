import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What is no store, or not one to be opened: one line that says what and where from the tool, a
/// typed error from the library, and not a byte changed.
struct BadStoreTests {
  /// Every command that looks into a store.
  private static let commands = [
    ["info"], ["conversations"], ["messages"], ["pages"], ["page", "1"], ["tree"], ["wal"],
    ["check"], ["export"],
  ]

  /// What lies where a store should be.
  enum Kind: CaseIterable {
    case text
    case nothingInside
    case truncatedInMeta
    case truncatedInPages
    case newerVersion
    case directory
    case emptyBesideLog
    case logOfAnother

    /// A part of the sentence about it.
    var sentence: String {
      switch self {
      case .text: "not a data file of this format"
      case .nothingInside: "empty file, not a store"
      case .truncatedInMeta: "meta slots are corrupt"
      case .truncatedInPages: "is corrupt"
      case .newerVersion: "format version 9"
      case .directory: "a directory, not a store"
      case .emptyBesideLog: "data file missing or empty"
      case .logOfAnother: "do not belong to the data file"
      }
    }

    /// Whether the store's own bytes are at fault, so that they are findings of a check.
    var isCorruption: Bool {
      switch self {
      case .truncatedInMeta, .truncatedInPages, .logOfAnother: true
      default: false
      }
    }

    func isThis(_ error: PageFileError) -> Bool {
      switch (self, error) {
      case (.text, .notADatabase), (.nothingInside, .notADatabase),
        (.truncatedInMeta, .corruptMeta), (.truncatedInPages, .corruptPage),
        (.newerVersion, .unsupportedFormat(9, _)), (.directory, .ioError(_, EISDIR, _)),
        (.emptyBesideLog, .mainFileMissing), (.logOfAnother, .walMismatch):
        true
      default: false
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func badStoresAreRefusedAndLeftAlone(kind: Kind) throws {
    let directory = try TemporaryDirectory()
    try make(kind, in: directory)
    let before = try directory.contents
    for command in Self.commands {
      let run = try ToolRun([command[0], "store"] + command[1...], in: directory.url)
      // A page that a command does not read cannot be in its way.
      if kind == .truncatedInPages && run.status == 0 { continue }
      let isFinding = command == ["check"] && kind.isCorruption
      #expect(run.status == (isFinding ? 1 : 2), "\(command) \(run.errorText)")
      let words = isFinding ? run.text : run.errorText
      #expect(words.contains(kind.sentence), "\(command): \(words)")
      #expect(isFinding || words.count { $0.isNewline } == 1)
      #expect(try directory.contents == before)
    }
    for access in [StoreOptions.Access.readOnly, .readWrite] {
      // A reader meets a missing page when it reads it, and so does whoever writes there.
      do {
        let store = try MessageStore(
          path: directory.path("store"), options: StoreOptions(access: access))
        try store.read { snapshot in
          for conversation in try snapshot.conversations(count: 100) {
            _ = try snapshot.thread(conversation.id).allMessages()
          }
        }
        Issue.record("\(kind) was read")
      } catch StoreError.storage(let error) {
        #expect(kind.isThis(error), "\(error)")
      }
      #expect(try directory.contents == before)
    }
  }

  private func make(_ kind: Kind, in directory: TemporaryDirectory) throws {
    let file = directory.url.appendingPathComponent("store")
    let sample = try directory.run("sample", "--messages", "300").text
    func restore(_ name: String) throws {
      try #require(try directory.run("restore", "-", name, input: sample).status == 0)
    }
    switch kind {
    case .text: try Data("Dear diary, this is not a store.\n".utf8).write(to: file)
    case .nothingInside: try Data().write(to: file)
    case .directory:
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    case .truncatedInMeta:
      try restore("store")
      try Data(contentsOf: file).prefix(300).write(to: file)
    case .truncatedInPages:
      try restore("store")
      let bytes = try Data(contentsOf: file)
      try bytes.prefix(32768 + 3 * 4096 + 5).write(to: file)
    case .newerVersion:
      try restore("store")
      try Self.withNewerVersion(Data(contentsOf: file)).write(to: file)
    case .emptyBesideLog:
      try restore("store")
      try Data().write(to: file)
    case .logOfAnother:
      for name in ["store", "other"] {
        let victim = try Victim("crash-writer", ["write", name], in: directory.url)
        try victim.wait { try victim.lines.count > 5 }
        #expect(try victim.kill(afterSeconds: 0))
      }
      for name in try directory.names where name.hasPrefix("other-wal") {
        let log = directory.url.appendingPathComponent(name.replacing("other", with: "store"))
        try Data(contentsOf: directory.url.appendingPathComponent(name)).write(to: log)
      }
      for name in try directory.names where !name.hasPrefix("store") {
        try FileManager.default.removeItem(at: directory.url.appendingPathComponent(name))
      }
    }
  }

  /// Both meta slots say version 9, with the checksum that belongs to it.
  private static func withNewerVersion(_ data: Data) -> Data {
    var bytes = Array(data)
    for slot in 0..<2 {
      let offset = MetaSlot.offset(of: slot)
      bytes[offset + 8] = 9
      let checksum = Bytes.with(Array(bytes[offset..<offset + 504])) {
        Checksum.of($0, seed: Checksum.seed(0x4D45_5441))
      }
      for byte in 0..<8 {
        bytes[offset + 504 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * byte))
      }
    }
    return Data(bytes)
  }

  // MARK: Others' stores

  @Test(.enabled(if: geteuid() != 0, "nothing is forbidden to the superuser"))
  func missingPermissionIsSaid() throws {
    let directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "10").text
    try #require(try directory.run("restore", "-", "store", input: sample).status == 0)
    let file = directory.path("store")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }
    for command in Self.commands {
      let run = try ToolRun([command[0], "store"] + command[1...], in: directory.url)
      #expect(run.status == 2 && run.errorText.contains("Permission denied"), "\(run.errorText)")
    }
    #expect(throws: StoreError.self) { try MessageStore(path: file) }
  }

  @Test func aSecondOwnerIsBusyInAnotherProcessToo() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let busy = StoreError.storage(.busy(path: path))
    let store = try MessageStore(path: path, options: StoreOptions(localMember: "me"))
    try store.write { try $0.insert(message("m", at: 1)) }
    #expect(throws: StoreError.storage(.alreadyOpen(path: path))) { try MessageStore(path: path) }
    let other = try Victim("crash-writer", ["write", path], in: directory.url).end()
    #expect(other.status == 2 && other.errorText.contains("in use by another process"))
    // Whoever only reads does not need to own it.
    #expect(try directory.run("check", "store").text.hasPrefix("fine: 1 message "))
    try store.close()

    let victim = try Victim("crash-writer", ["write", path], in: directory.url)
    try victim.wait { try victim.lines.count > 3 }
    #expect(throws: busy) { try MessageStore(path: path) }
    #expect(try directory.run("check", "store").status == 0)
    #expect(try victim.kill(afterSeconds: 0))
    // The lock went with its owner.
    let next = try MessageStore(path: path)
    #expect(try next.check() == [])
    try next.close()
  }
}
