import Foundation
import SealedPages
import Testing

@testable import PageFile

/// An encrypted database that was written once and has to open for ever.
///
/// `MSGSTORE_GOLDEN=record` writes it if it is missing.
struct GoldenSealedFileTests {
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden/version-1-encrypted.txt")
  private static let names = ["x", "x-wal0", "x-wal1"]
  private static let rowByteCount = 32

  private static var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.encryption = TestKey.first
    options.backgroundWork = .caller
    return options
  }

  /// The pairs of each of four commits; a checkpoint is behind the second one.
  ///
  /// The last one takes one sector.
  private static func pairs(_ commit: UInt8) -> [[UInt8]: [UInt8]] {
    var pairs: [[UInt8]: [UInt8]] = [
      [1, commit]: [UInt8](repeating: commit, count: 40),
      Array("changed".utf8): [commit],
    ]
    if commit < 4 { pairs[Array("long".utf8)] = [UInt8](repeating: commit, count: 5000) }
    return pairs
  }

  private static var expected: [[UInt8]: [UInt8]] {
    (2...4).reduce(into: pairs(1)) { all, commit in all.merge(pairs(commit)) { $1 } }
  }

  private static func make() throws -> [String: [UInt8]] {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options)
    for commit: UInt8 in 1...4 {
      let transaction = try database.beginWrite()
      let source = transaction.source
      try source.enter()
      for (key, value) in pairs(commit).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        try Bytes.with(key) { key throws(PageFileError) in
          try Bytes.with(value) { value throws(PageFileError) in
            _ = try BTree(source, TreeNumber(0)).insert(key, value)
          }
        }
      }
      source.leave()
      _ = try transaction.commit(.full)
      if commit == 2 { try database.checkpoint() }
    }
    database.abandon()
    return Dictionary(uniqueKeysWithValues: names.map { ($0, directory[$0] ?? []) })
  }

  // MARK: As text

  /// Rows of bytes that are not all zeros, and the length of each file.
  private static func text(of files: [String: [UInt8]]) -> String {
    var lines: [String] = []
    for name in names {
      let bytes = files[name] ?? []
      lines.append("\(name) \(bytes.count)")
      for start in stride(from: 0, to: bytes.count, by: rowByteCount) {
        let row = bytes[start..<min(start + rowByteCount, bytes.count)]
        guard row.contains(where: { $0 != 0 }) else { continue }
        let hex = row.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        lines.append("\(start) \(hex)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func files(_ text: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    var current = ""
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if names.contains(String(words[0])) {
        current = String(words[0])
        files[current] = [UInt8](repeating: 0, count: try #require(Int(words[1])))
        continue
      }
      let start = try #require(Int(words[0]))
      let digits = Array(words[1])
      for index in stride(from: 0, to: digits.count, by: 2) {
        let byte = try #require(UInt8(String(digits[index...index + 1]), radix: 16))
        files[current]?[start + index / 2] = byte
      }
    }
    return files
  }

  private static func golden() throws -> [String: [UInt8]] {
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record",
      !FileManager.default.fileExists(atPath: file.path)
    {
      try Data(text(of: try make()).utf8).write(to: file)
    }
    return try files(String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }

  // MARK: Opening it

  @Test func itOpensForEver() throws {
    for readOnly in [true, false] {
      let directory = MemoryDirectory()
      for (name, bytes) in try Self.golden() { directory[name] = bytes }
      var options = Self.options
      options.access = readOnly ? .readOnly : .readWrite
      options.mark = LSN(4)
      let database = try Database(in: directory, name: "x", options: options)
      let isSame = try database.contents(of: 0) == Self.expected
      #expect(isSame)
      try database.close()
      #expect(throws: PageFileError.keyMissing(path: "memory:x")) {
        try Database(in: directory, name: "x")
      }
    }
  }

  @Test func theSecondReaderReadsIt() throws {
    let directory = try TemporaryDirectory()
    for (name, bytes) in try Self.golden() {
      try Data(bytes).write(to: directory.url.appendingPathComponent(name))
    }
    guard let found = try SecondReader.contents(of: directory.path("x")) else { return }
    #expect(found == [0: Self.expected])
  }

  /// What is written today has the same form.
  @Test func theSecondReaderReadsWhatIsWrittenNow() throws {
    let directory = try TemporaryDirectory()
    for (name, bytes) in try Self.make() {
      try Data(bytes).write(to: directory.url.appendingPathComponent(name))
    }
    guard let found = try SecondReader.contents(of: directory.path("x")) else { return }
    #expect(found == [0: Self.expected])
  }
}
