import Foundation
import Synchronization
import Testing

/// A built tool in a process of its own, which is killed, frozen, or left to its end.
final class Child: Sendable {
  // Unchecked: a `Process` is used under the lock only, once it runs.
  private struct Running: @unchecked Sendable { let process: Process }
  private let running: Mutex<Running>
  private let outputFile: URL
  let identifier: Int32

  /// Starts a tool in a directory.
  init(_ tool: String, _ arguments: [String], in directory: URL) throws {
    let process = Process()
    // Files instead of pipes: a pipe that some other child has inherited never ends.
    outputFile = directory.appendingPathComponent("output-\(UUID().uuidString)")
    try Data().write(to: outputFile)
    process.executableURL = Self.products.appendingPathComponent(tool)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: outputFile)
    try process.run()
    identifier = process.processIdentifier
    running = Mutex(Running(process: process))
  }

  deinit {
    if running.withLock({ $0.process.isRunning }) { Foundation.kill(identifier, SIGKILL) }
    try? FileManager.default.removeItem(at: outputFile)
  }

  /// Kills it with the signal that nobody can catch; it does nothing more, though it may not be gone
  /// yet.
  func kill() { Foundation.kill(identifier, SIGKILL) }

  /// Stops it where it is, as the system does with an app, or lets it go on.
  func freeze(_ isFrozen: Bool) { Foundation.kill(identifier, isFrozen ? SIGSTOP : SIGCONT) }

  /// Waits for its end, and returns its status, or the signal that was its end.
  @discardableResult
  func end() -> Int32 {
    running.withLock { running in
      running.process.waitUntilExit()
      return running.process.terminationStatus
    }
  }

  /// What it has written.
  var output: Data { get throws { try Data(contentsOf: outputFile) } }

  /// Where the built products lie: beside the tests.
  private static var products: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
      return tests.bundleURL.deletingLastPathComponent()
    #else
      return Bundle.main.bundleURL
    #endif
  }
}

/// Waits until something holds that another process does.
func wait(
  sourceLocation: SourceLocation = #_sourceLocation, until condition: () throws -> Bool
) async throws {
  // Long enough for a machine with much else to do.
  for _ in 0..<4000 {
    if try condition() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("it never came to hold", sourceLocation: sourceLocation)
}
