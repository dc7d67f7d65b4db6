import Crypto
import Foundation
import MsgStore
import PageFile
import SealedPages
import Testing

/// Keys of tests.
enum TestKey {
  static let bytes = [UInt8](0..<32)
  static let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  static let first = Encryption.aes256 { SymmetricKey(data: bytes) }
  static let second = Encryption.aes256 { [UInt8](repeating: 7, count: 32) }
}

/// A directory for one test, removed with it.
final class TemporaryDirectory {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("msgstore-encryption-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// The bytes of each file.
  var contents: [String: Data] {
    get throws {
      var contents: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
        contents[name] = FileManager.default.contents(atPath: path(name))
      }
      return contents
    }
  }
}

/// One run of a program, with its output.
struct Run {
  let status: Int32
  let text: String
  let errorText: String

  init(
    _ executable: URL, _ arguments: [String], in directory: URL, input: String = "",
    environment: [String: String] = [:]
  ) throws {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let scratch = try TemporaryDirectory()
    let files = ["input", "output", "error"].map { scratch.url.appendingPathComponent($0) }
    for file in files { try Data().write(to: file) }
    try Data(input.utf8).write(to: files[0])
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    text = String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
    errorText = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
  }
}

/// The second reader, `Encryption/read-sealed`, which shares no code with the store.
enum SecondReader {
  private static let script = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("read-sealed")

  /// Returns all keys and values of a store, by tree; nil, saying so, if the reader cannot run.
  static func contents(of path: String) throws -> [Int: [[UInt8]: [UInt8]]]? {
    let environment = URL(fileURLWithPath: "/usr/bin/env")
    let directory = FileManager.default.temporaryDirectory
    let probe = try Run(environment, ["python3", "-c", "import cryptography"], in: directory)
    guard probe.status == 0 else {
      print("skipped: the second reader needs Python and its package cryptography")
      return nil
    }
    let run = try Run(environment, ["python3", script.path, path, TestKey.hex], in: directory)
    try #require(run.status == 0, "\(run.errorText)")
    var trees: [Int: [[UInt8]: [UInt8]]] = [:]
    for line in run.text.split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      let tree = try #require(Int(words[1]))
      trees[tree, default: [:]][bytes(words[2])] = bytes(words[3])
    }
    return trees
  }

  private static func bytes(_ hex: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in hex.utf8 {
      let value = digit < 58 ? digit - 48 : digit - 87
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
