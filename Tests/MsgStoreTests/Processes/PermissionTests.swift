import MsgStoreTools

#if os(Linux)
  import Foundation
  import MsgStore
  import PageFile
  import Testing
  import crash_writer

  /// Stores that may not be written, or only in part: they are read all the same, and what is refused
  /// changes nothing.
  ///
  /// Rights do not bind the superuser, so that a process which has given them up does the opening;
  /// taking them away needs the superuser's.
  @Suite(.enabled(if: geteuid() == 0, "only the superuser can give rights up"))
  struct PermissionTests {
    private let directory: TemporaryDirectory
    private let root: String

    init() throws {
      directory = try TemporaryDirectory()
      root = directory.url.resolvingSymlinksInPath().path
    }

    /// What the log of a store is like when it is opened.
    private enum LogState: String, CaseIterable {
      case closed, closedWithoutLog, inUse, neverUsed

      /// How many steps the store holds.
      var stepCount: Int { self == .neverUsed ? 0 : 7 }
      var hasLog: Bool { self == .closed || self == .inUse }
    }

    /// Which of directory, data file and the two logs may be written.
    private struct Rights {
      let bits: Int
      var directory: Bool { bits & 1 != 0 }
      var data: Bool { bits & 2 != 0 }
      func log(_ index: Int) -> Bool { bits & (4 << index) != 0 }
    }

    private func makeStore(_ state: LogState, in home: String) throws {
      let path = home + "/x"
      if state == .neverUsed { return try Database(path: path).close() }
      let store = try MessageStore(
        path: path, options: StoreOptions(localMember: CrashStep.localMember))
      for number in 1...state.stepCount {
        try store.write { try CrashStep(number).run(number, $0) }
        if number == 4 { try store.checkpoint() }
      }
      if state == .inUse {
        try store.suspend(checkpoints: false)
      } else {
        try store.close()
      }
      if state == .closedWithoutLog {
        for index in 0...1 { try FileManager.default.removeItem(atPath: path + "-wal\(index)") }
      }
    }

    private func give(_ rights: Rights, to home: String) {
      for (name, mayWrite) in [
        ("/x", rights.data), ("/x-wal0", rights.log(0)), ("/x-wal1", rights.log(1)),
      ] {
        unsafe chmod(home + name, mayWrite ? 0o666 : 0o444)
      }
      unsafe chmod(home, rights.directory ? 0o777 : 0o555)
    }

    private func bytes(of home: String) throws -> [String: Data] {
      var bytes: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: home) {
        bytes[name] = try Data(contentsOf: URL(fileURLWithPath: home + "/" + name))
      }
      return bytes
    }

    @Test func whatMayNotBeWrittenIsReadAndStaysAsItWas() throws {
      var before: [String: [String: Data]] = [:]
      for state in LogState.allCases {
        for bits in 0..<16 {
          let name = "\(state)-\(bits)"
          try FileManager.default.createDirectory(
            atPath: root + "/" + name, withIntermediateDirectories: true)
          try makeStore(state, in: root + "/" + name)
          before[name] = try bytes(of: root + "/" + name)
          give(Rights(bits: bits), to: root + "/" + name)
        }
      }
      let process = try Victim("crash-writer", ["unprivileged", root], in: directory.url)
      let (status, errorText) = try process.end()
      try #require(status == 0, "\(errorText)")
      let lines = try process.lines.map(String.init)
      for state in LogState.allCases {
        for bits in 0..<16 {
          let name = "\(state)-\(bits)"
          let rights = Rights(bits: bits)
          let readable = state == .neverUsed ? nil : "\(state.stepCount)"
          if let readable {
            #expect(lines.contains("\(name) readOnly \(readable)"), "\(name)")
          }
          let mayWriteLogs =
            state.hasLog ? rights.log(0) && rights.log(1) : rights.directory
          let isRefused = !rights.data || !mayWriteLogs
          let expected = isRefused ? "readOnly" : "\(state.stepCount)"
          #expect(
            lines.contains("\(name) readWrite \(expected)"),
            "\(lines.filter { $0.hasPrefix(name + " ") })")
          if isRefused { #expect(try bytes(of: root + "/" + name) == before[name], "\(name)") }
        }
      }
    }

    /// The system says EPERM in the middle of things, as a phone does for protected files while it is
    /// locked: nothing is damaged, and everything goes on later.
    @Test func rightsThatAreTakenAwayMeanwhileOnlyDelay() throws {
      try #require(try makeImmutable(root + "/probe", true), "chattr does not work here")
      _ = try makeImmutable(root + "/probe", false)
      let path = root + "/x"
      let store = try MessageStore(
        path: path, options: StoreOptions(localMember: CrashStep.localMember))
      var number = 0
      for round in 0..<4 {
        for _ in 0..<5 {
          number += 1
          try store.write { try CrashStep(number).run(number, $0) }
        }
        for suffix in ["", "-wal0", "-wal1"] { _ = try makeImmutable(path + suffix, true) }
        defer {
          for suffix in ["", "-wal0", "-wal1"] { _ = try? makeImmutable(path + suffix, false) }
        }
        let errors = [
          error { try store.write { try CrashStep(number + 1).run(number + 1, $0) } },
          error { try store.checkpoint() },
        ]
        for error in errors {
          guard case StoreError.storage(.deviceLocked)? = error else {
            Issue.record("round \(round): \(error.map { "\($0)" } ?? "nothing was refused")")
            continue
          }
        }
        #expect(try CrashStep.lastNumber(in: store) == number)
      }
      try store.write { try CrashStep(number + 1).run(number + 1, $0) }
      try store.checkpoint()
      var model = CrashModel()
      model.advance(to: number + 1)
      #expect(try model.difference(from: store) == nil)
      #expect(try store.check() == [])
      try store.close()
    }

    private func error(_ body: () throws -> Void) -> (any Error)? {
      do { try body() } catch { return error }
      return nil
    }

    private func makeImmutable(_ path: String, _ isImmutable: Bool) throws -> Bool {
      if !FileManager.default.fileExists(atPath: path) {
        try Data().write(to: URL(fileURLWithPath: path))
      }
      return try run("/usr/bin/chattr", isImmutable ? "+i" : "-i", path) == 0
    }

    // MARK: File systems

    private func run(_ tool: String, _ arguments: String...) throws -> Int32 {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: tool)
      process.arguments = arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }

    /// In a mount namespace of its own, so that nothing stays mounted.
    @Test func aReadOnlyFileSystemIsReadAndNotWritten() throws {
      for state in [LogState.closed, .closedWithoutLog, .inUse] {
        let home = root + "/files/\(state)"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try makeStore(state, in: home)
        give(Rights(bits: 15), to: home)
      }
      let tool = ToolRun.products.appendingPathComponent("crash-writer").path
      let script = """
        mount --bind \(root)/files \(root)/files && mount -o remount,ro,bind \(root)/files || exit 77
        \(tool) unprivileged \(root)/files > \(root)/said
        """
      let status = try run("/usr/bin/unshare", "-m", "sh", "-c", script)
      try #require(status != 77, "nothing can be mounted here")
      let lines = try String(contentsOfFile: root + "/said", encoding: .utf8).split(separator: "\n")
      #expect(lines.count == 6)
      for line in lines {
        #expect(line.hasSuffix(line.contains("readWrite") ? " readOnly" : " 7"), "\(line)")
      }
    }
  }
#endif
