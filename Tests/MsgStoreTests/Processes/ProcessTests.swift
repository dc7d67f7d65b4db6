import MsgStoreTools

#if os(Linux)
  import Foundation
  import MsgStore
  import Testing
  import crash_writer

  /// What a process does with a store when something is odd about the process.
  struct ProcessTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
      directory = try TemporaryDirectory()
      path = directory.url.appendingPathComponent("store").path
    }

    private func run(_ words: String...) throws -> [Substring] {
      let process = try Victim("crash-writer", words, in: directory.url)
      let (status, errorText) = try process.end()
      try #require(status == 0, "\(words): \(errorText)")
      return try process.lines
    }

    /// At each system call of a life with commits, checkpoints and suspensions, by the thread that
    /// makes it: whatever is locked there is locked in the child for ever.
    @Test func aForkedChildIsRefusedAndDisturbsNobody() throws {
      let lines = try run("fork", path)
      let count = lines.last?.split(separator: " ").last.flatMap { Int($0) } ?? 0
      print("forks: \(count)")
      #expect(count >= 100)
    }

    /// The lock belongs to the open file, which a child has, too.
    @Test func aSuspendedStoreIsFreeThoughAChildHasItsFilesOpen() throws {
      #expect(try run("fork-held", path) == ["handed over"])
    }

    @Test func withoutStandardStreamsNothingStrayGetsIntoTheFiles() throws {
      _ = try run("descriptors", path, path + "-report")
      #expect(try String(contentsOfFile: path + "-report", encoding: .utf8) == "")
      try FileManager.default.removeItem(atPath: path + "-report")
      let store = try MessageStore(path: path)
      var model = CrashModel()
      model.advance(to: 100)
      #expect(try model.difference(from: store) == nil)
      #expect(try store.check() == [])
    }

    // MARK: Memory

    /// Twenty megabytes through a store that may have six of pages, beside a reader that never ends.
    @Test func aStoreStaysWithinItsMemory() throws {
      let lines = try run("memory", path)
      let kilobytes = lines.last?.split(separator: " ").last.flatMap { Int($0) } ?? .max
      let fileByteCount =
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      print("memory: \(kilobytes) kB for a store of \(fileByteCount / 1024) kB")
      #expect(fileByteCount > 20 << 20)
      #expect(kilobytes < 16 << 10)
    }

    /// An allocation that fails ends the process, wherever it is: that is a crash like any other.
    @Test func whoRunsOutOfMemoryLosesNothingThatWasAcknowledged() throws {
      var model = CrashModel()
      var exhaustedCount = 0
      var random = SeededGenerator(seed: seeds(1)[0])
      for _ in 0..<16 {
        // A commit takes some 50 and a checkpoint some 1,000; with 1,500 most go on for ever.
        let kilobytes = Int.random(
          in: 0...1 << Int.random(in: 5...10, using: &random), using: &random)
        let process = try Victim(
          "crash-writer", ["exhaust", path, "\(kilobytes)"], in: directory.url)
        try process.wait { try process.lines.count > 60 }
        if process.isRunning {
          #expect(try process.kill(afterSeconds: 0))
        } else {
          exhaustedCount += 1
        }
        let numbers = try process.lines.compactMap { Int($0) }
        let store = try MessageStore(path: path)
        let number = try CrashStep.lastNumber(in: store)
        let acknowledged = max(model.stepCount, numbers.max() ?? 0)
        try #require((acknowledged...acknowledged + 1).contains(number))
        model.advance(to: number)
        #expect(try model.difference(from: store) == nil)
        try store.close()
      }
      print("memory: \(exhaustedCount) processes of 16 ran out of it, \(model.stepCount) commits")
      #expect(exhaustedCount >= 8)
    }
  }
#endif
