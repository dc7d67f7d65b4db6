import ChatClient
import Foundation

/// Runs the three processes, and compares what the two stores say in the end.
struct Demonstration {
  private let directory: URL
  private let tools: URL

  init() throws {
    // Not the usual temporary directory: the name of a socket has at most about a hundred bytes.
    directory = URL(
      fileURLWithPath: "/tmp/chat-example-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    tools = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
      .resolvingSymlinksInPath().deletingLastPathComponent()
  }

  /// Returns whether all went well; nothing is left of it either way.
  func run() throws -> Bool {
    defer { try? FileManager.default.removeItem(at: directory) }
    let socket = path("socket")
    let server = try start("chat-example", ["server", socket])
    defer { server.terminate() }
    let people = try ["ann", "bob"].map { name in
      try start("chat-example", [name, path(name), socket])
    }
    for process in people { process.waitUntilExit() }
    guard people.allSatisfy({ $0.terminationStatus == 0 }) else { return false }
    let (ann, bob) = (try export("ann"), try export("bob"))
    print("\nBoth stores, but for what is a matter of each device:\n")
    for line in ann.lines { print(line) }
    guard ann == bob else {
      print("\nBob's says something else:\n")
      for line in bob.lines { print(line) }
      return false
    }
    print("\nThe two exports are the same.")
    return true
  }

  private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  private func start(_ tool: String, _ arguments: [String], output: Any? = nil) throws -> Process {
    let process = Process()
    process.executableURL = tools.appendingPathComponent(tool)
    process.arguments = arguments
    if let output { process.standardOutput = output }
    try process.run()
    return process
  }

  private func export(_ name: String) throws -> SharedExport {
    let file = directory.appendingPathComponent(name + ".jsonl")
    try Data().write(to: file)
    let process = try start(
      "msgdump", ["export", path(name)], output: try FileHandle(forWritingTo: file))
    process.waitUntilExit()
    return try SharedExport(Data(contentsOf: file))
  }
}
