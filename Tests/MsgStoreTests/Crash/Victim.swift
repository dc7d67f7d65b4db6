import Foundation
import Simulation
import Testing

/// A process that is killed while it works.
final class Victim {
  private let process = Process()
  private let outputFile: URL
  private let errorFile: URL

  /// Starts a built tool in a directory.
  init(_ tool: String, _ arguments: [String], in directory: URL) throws {
    let number = UUID().uuidString
    outputFile = directory.appendingPathComponent(".victim-output-\(number)")
    errorFile = directory.appendingPathComponent(".victim-error-\(number)")
    // Files instead of pipes: a pipe that some other child has inherited never ends.
    for file in [outputFile, errorFile] { try Data().write(to: file) }
    process.executableURL = ToolRun.products.appendingPathComponent(tool)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: outputFile)
    process.standardError = try FileHandle(forWritingTo: errorFile)
    // A shell starts tests in the background with this signal ignored, and the tool would inherit
    // that.
    signal(SIGINT, SIG_DFL)
    try process.run()
  }

  /// What it has written to standard output, in whole lines.
  var lines: [Substring] {
    get throws {
      let text = String(decoding: try Data(contentsOf: outputFile), as: UTF8.self)
      return text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n")
    }
  }

  /// Sends a signal and waits for the end; returns the signal that ended the process, or nil.
  func end(by signal: Int32) -> Int32? {
    Foundation.kill(process.processIdentifier, signal)
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
  }

  deinit {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    for file in [outputFile, errorFile] { try? FileManager.default.removeItem(at: file) }
  }

  var isRunning: Bool { process.isRunning }

  /// Stops it where it is, as the system does with an app, or lets it go on.
  func freeze(_ isFrozen: Bool) {
    Foundation.kill(process.processIdentifier, isFrozen ? SIGSTOP : SIGCONT)
  }

  /// Waits for its own end, and returns its status and what it has written to standard error.
  func end() throws -> (status: Int32, errorText: String) {
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: try Data(contentsOf: errorFile), as: UTF8.self)
    )
  }

  /// Waits until something holds, or the process has ended.
  func wait(until condition: () throws -> Bool) throws {
    while process.isRunning, try !condition() { Victim.sleep(seconds: 0.0002) }
  }

  /// Kills it with the signal that nobody can catch.
  ///
  /// Returns whether that was its end. If it came to one before by itself, that must have been a
  /// good one.
  func kill(afterSeconds seconds: Double) throws -> Bool {
    Victim.sleep(seconds: seconds)
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    let (status, errorText) = try end()
    let wasKilled = process.terminationReason == .uncaughtSignal
    #expect(status == (wasKilled ? SIGKILL : 0), "\(errorText)")
    return wasKilled
  }

  static func sleep(seconds: Double) { Foundation.Thread.sleep(forTimeInterval: seconds) }
}

/// How often processes are killed in a test: a few times, or `MSGSTORE_KILLS=n`.
var killCount: Int {
  ProcessInfo.processInfo.environment["MSGSTORE_KILLS"].flatMap { Int($0) }
    ?? Scale.count(debug: 6, release: 12)
}
