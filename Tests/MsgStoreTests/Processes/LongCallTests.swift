import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing
import crash_writer

/// Calls that read a whole store while its owner changes all of it: in another process, by the tool, and in
/// the owner's own threads.
///
/// A moment may be given up, with a sentence that says so. Nothing may be found about a sound store, what
/// is read has to be one moment, and every call has to end.
///
/// Two seconds each in a normal run, one in a debug build; `MSGSTORE_LONG_CALLS=600` sets another
/// number.
struct LongCallTests {
  private let directory: TemporaryDirectory
  private let path: String
  private let seconds: Double

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("store")
    seconds =
      ProcessInfo.processInfo.environment["MSGSTORE_LONG_CALLS"].flatMap { Double($0) }
      ?? Double(Scale.count(debug: 1, release: 2))
  }

  private func startOwner() throws -> Victim {
    let owner = try Victim("crash-writer", ["busy", path], in: directory.url)
    try owner.wait { try owner.lines.count > BusyRound.keptCount }
    return owner
  }

  // MARK: The library

  @Test func callsOfAnotherProcessEndWithOneMomentOrAnError() throws {
    let owner = try startOwner()
    let caller = try Victim("crash-writer", ["long-calls", path], in: directory.url)
    try expectCalls(of: caller, ["open", "check", "walk", "copy"])
    #expect(try owner.kill(afterSeconds: 0))
    try expectStore(path)
  }

  @Test func callsOfTheOwnersThreadsEndWithOneMomentOrAnError() throws {
    let owner = try Victim("crash-writer", ["busy-inside", path], in: directory.url)
    try expectCalls(of: owner, ["check", "walk", "compact", "checkpoint"])
    try expectStore(path)
  }

  /// Lets it call for a while, until each call has come to its end at least once.
  private func expectCalls(of caller: Victim, _ names: [String]) throws {
    let begin = ContinuousClock.now
    while caller.isRunning, ContinuousClock.now < begin + .seconds(seconds + 60) {
      Victim.sleep(seconds: 0.05)
      let lines = try caller.lines
      let isEnough = names.allSatisfy { lines.contains("\($0) done"[...]) }
      if isEnough && ContinuousClock.now > begin + .seconds(seconds) { break }
    }
    #expect(try caller.kill(afterSeconds: 0))
    let lines = try caller.lines.filter { Int($0) == nil }
    print("long calls: \(Dictionary(lines.map { ($0.prefix(40), 1) }) { $0 + $1 })")
    let wrong = lines.filter { $0.contains("WRONG") }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.first ?? "")")
    for name in names { #expect(lines.contains("\(name) done"), "\(name) was never done") }
  }

  private func expectStore(_ path: String, _ location: SourceLocation = #_sourceLocation) throws {
    let store = try MessageStore(path: path)
    #expect(try store.check() == [], sourceLocation: location)
    #expect(try store.read { try BusyRound.problem(in: $0) } == nil, sourceLocation: location)
    try store.close()
  }

  // MARK: The tool

  /// Each command, one after the other; what one makes is looked at, and then removed.
  @Test func commandsOfTheToolEndWithOneMomentOrASentence() throws {
    let owner = try startOwner()
    let end = ContinuousClock.now + .seconds(seconds)
    var tally: [String: Int] = [:]
    repeat {
      for command in Self.commands {
        let arguments = command.map { $0 == "STORE" ? path : $0 == "NEW" ? path + "-new" : $0 }
        let run = try ToolRun(arguments, in: directory.url)
        try expect(run, of: command, &tally)
      }
    } while ContinuousClock.now < end
    #expect(try owner.kill(afterSeconds: 0))
    print("long commands: \(tally.sorted { $0.key < $1.key })")
    try expectStore(path)
  }

  private static let commands = [
    ["check", "STORE"], ["info", "STORE"], ["messages", "STORE"], ["export", "STORE"],
    ["compact", "STORE", "NEW"], ["salvage", "STORE", "NEW"], ["conversations", "STORE"],
    ["tree", "STORE"], ["pages", "STORE"], ["wal", "STORE"],
  ]

  /// What the tool may say of a store that is sound and in use.
  private static let sentences = [
    "the store's owner changed too much of it in the meantime; run the command again",
    "in use by another process", "was changed meanwhile; close it and try again",
    "\(PageFileError.snapshotExpired)",
  ]

  private func expect(
    _ run: ToolRun, of command: [String], _ tally: inout [String: Int]
  ) throws {
    tally["\(command[0]) \(run.status)", default: 0] += 1
    let said = "\(command[0]): \(run.text.prefix(300)) \(run.errorText)"
    #expect(!run.wasSignalled, "\(said)")
    #expect(run.status != 1, "\(said)")
    if run.status == 2 {
      #expect(Self.sentences.contains { run.errorText.contains($0) }, "\(said)")
    }
    let made = path + "-new"
    if run.status == 0, command[0] == "export" {
      let restored = try ToolRun(["restore", "-", made], in: directory.url, input: run.output)
      #expect(restored.status == 0, "restore: \(restored.errorText)")
    }
    if run.status == 0, ["export", "compact", "salvage"].contains(command[0]) {
      try expectStore(made)
    }
    for suffix in ["", "-wal0", "-wal1"] {
      try? FileManager.default.removeItem(atPath: made + suffix)
    }
    let rest = try directory.names.filter { $0.hasPrefix("store-new") }
    #expect(rest.isEmpty, "\(command[0]) has left \(rest)")
  }
}
