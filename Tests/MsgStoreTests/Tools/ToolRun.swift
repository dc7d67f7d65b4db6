import Foundation

/// One run of `msgdump`, in a process of its own, as people run it.
struct ToolRun {
  let status: Int32
  /// Whether a signal ended it: that is never right, whatever it was given.
  let wasSignalled: Bool
  let output: Data
  let errorText: String

  /// The output as text.
  var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs the tool with arguments, in a directory, with something on its standard input.
  init(_ arguments: [String], in directory: URL, input: Data = Data()) throws {
    let process = Process()
    process.executableURL = Self.products.appendingPathComponent("msgdump")
    process.arguments = arguments
    process.currentDirectoryURL = directory
    // Files instead of pipes: a pipe that nobody empties meanwhile would stop the tool.
    let names = ["input", "output", "error"].map { ".\($0)-\(UUID().uuidString)" }
    let files = names.map { directory.appendingPathComponent($0) }
    defer { for file in files { try? FileManager.default.removeItem(at: file) } }
    try input.write(to: files[0])
    for file in files[1...] { try Data().write(to: file) }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    wasSignalled = process.terminationReason == .uncaughtSignal
    output = try Data(contentsOf: files[1])
    errorText = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
  }

  /// Where the built products lie: beside the tests.
  static var products: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
      return tests.bundleURL.deletingLastPathComponent()
    #else
      return Bundle.main.bundleURL
    #endif
  }
}

/// A directory for one test, removed with it.
final class TemporaryDirectory {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("msgstore-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The names of all files in it.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  /// The bytes of all files in it, by their names.
  var contents: [String: Data] {
    get throws {
      var contents: [String: Data] = [:]
      for name in try names {
        // A directory has no bytes.
        contents[name] = (try? Data(contentsOf: url.appendingPathComponent(name))) ?? Data()
      }
      return contents
    }
  }

  /// The path of a file in it.
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Runs the tool in it.
  func run(_ arguments: String..., input: String = "") throws -> ToolRun {
    try ToolRun(arguments, in: url, input: Data(input.utf8))
  }
}
